"""Recording → Document: what is said, a line and a part for each sentence, with its second."""

from __future__ import annotations

from hashlib import sha256

from answerable.datatypes import Document, DocumentType, Part, PartKind, clock, document_id
from answerable.errors import EmptySource, UnsupportedSource
from answerable.sources.context import ReadContext
from answerable.sources.recordings.hear import hear
from answerable.sources.recordings.weights import how_to_hear, name_of_model
from answerable.sources.text import stem


def read_recording(data: bytes, source: str, context: ReadContext) -> Document:
    """Return what is said in a recording.

    Raise UnsupportedSource if nothing is installed that hears it, EmptySource if nothing is said, DamagedSource.
    """
    speech = context.speech
    if speech is None:
        raise UnsupportedSource(f"{source} is a recording, and what hears recordings is not installed. {how_to_hear()}")
    heard = hear(data, source, speech, context.limits.max_audio_seconds, context.working)
    if heard.is_cut:
        context.skipped.errors.append(
            EmptySource(
                f"{source} was heard up to {clock(heard.seconds)} only, when its time was over: raise the setting "
                "max_audio_seconds, or split it"
            )
        )
    if not heard.lines:
        raise EmptySource(f"in {source} no speech was found: leave it out, or record it louder")
    parts, pieces, reached = [], [], 0
    for line in heard.lines:
        parts.append(Part(reached, reached + len(line.text), PartKind.SECTION, seconds=line.seconds))
        pieces.append(line.text)
        reached += len(line.text) + 1
    content = "\n".join(pieces)
    metadata = {
        "duration": round(heard.seconds, 1),
        "model": name_of_model(speech),
        "sha256": sha256(data).hexdigest(),
    }
    return Document(
        document_id(source, content),
        content,
        source,
        stem(source),
        DocumentType.RECORDING,
        heard.language,
        metadata,
        tuple(parts),
    )
