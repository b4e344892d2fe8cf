"""What clients send and get, as the specification has it."""

from __future__ import annotations

from pydantic import BaseModel, Field, field_validator

LONGEST_MESSAGE = 4_000
LONGEST_SESSION = 200
LONGEST_SELECTION = 20_000


class ChatRequest(BaseModel):
    """A message of a conversation. An empty one, and texts over a limit, are invalid."""

    message: str = Field(..., description="The user's chat message or question.")
    session_id: str = Field(..., description="Unique identifier for the chat session.")
    selected_text: str | None = Field(
        None,
        description="Optional: Text selected by the user in the UI, used as a hint for RAG retrieval.",
    )

    @field_validator("message")
    @classmethod
    def _check_message(cls, message: str) -> str:
        return _checked(message, LONGEST_MESSAGE)

    @field_validator("session_id")
    @classmethod
    def _check_session(cls, session_id: str) -> str:
        return _checked(session_id, LONGEST_SESSION)

    @field_validator("selected_text")
    @classmethod
    def _check_selection(cls, selected: str | None) -> str | None:
        return _checked(selected, LONGEST_SELECTION) if selected and selected.strip() else None


class ChatResponse(BaseModel):
    """The answer, and where what it was looked for in stands in the book."""

    response: str = Field(..., description="The AI's response to the user's message, grounded in textbook content.")
    session_id: str = Field(..., description="The unique identifier for the chat session.")
    sources: list[str] | None = Field(
        None,
        description="Optional: A list of identifiers (e.g., 'Chapter 1', 'Module 2, Section 3') indicating "
        "where the answer's context was retrieved from in the textbook. Only present if RAG was used.",
    )


class IngestRequest(BaseModel):
    """What to ingest."""

    force_resync: bool = Field(
        False,
        description="If true, clears the existing Qdrant collection and re-ingests all content from scratch.",
    )


class IngestResponse(BaseModel):
    """What became of it."""

    status: str = Field(..., description="Status of the ingestion process (e.g., 'success', 'failed', 'started').")
    message: str = Field(..., description="A descriptive message about the ingestion operation.")
    ingested_count: int | None = Field(
        None,
        description="The number of documents/chunks successfully ingested, if applicable.",
    )


def _checked(text: str, longest: int) -> str:
    if not text.strip():
        raise ValueError("it is empty: say something")
    if len(text) > longest:
        raise ValueError(f"it has {len(text)} characters: send at most {longest}")
    return text
