"""The errors of this application, what users are told of each, and where they come from.

    RAGError
    ├── ConfigurationError     a setting or the PDF isn't usable
    ├── DatabaseError          also a ConnectionError
    └── ExternalServiceError   OpenAI's API, also an openai.APIError; APIError is another name for it

The text of an error says what happened and what to do; `user_message` gives the sentence that users see.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import openai
from sqlalchemy.exc import SQLAlchemyError

from answerable.errors import (
    AnswerableError,
    ContentFiltered,
    ModelNotFound,
    ProviderError,
    ProviderOverloaded,
    ProviderRefused,
    ProviderRetired,
    ProviderUnreachable,
)
from answerable.text import printable_line

_SERVER = "https://api.openai.com/v1"


class RAGError(Exception):
    """Base exception for RAG system"""


class ConfigurationError(RAGError):
    """Missing or invalid configuration"""


class DatabaseError(RAGError, ConnectionError):
    """Database connection or query error"""


class ExternalServiceError(RAGError, openai.APIError):
    """OpenAI API or external service error"""

    def __init__(self, message: str = "") -> None:
        # The client's own error may hold the key, so nothing of it is kept, and its request neither.
        super().__init__(message, httpx2.Request("POST", _SERVER), body=None)


APIError = ExternalServiceError

_SERVICE = "Erro ao comunicar com serviço externo. Tente novamente."
_DATABASE = "Erro ao conectar ao banco de dados. Verifique se está rodando."

_CAUSES: tuple[tuple[type[ProviderError], str], ...] = (
    (ModelNotFound, "o modelo não existe neste serviço: corrija {model_setting}"),
    (ProviderRefused, "a chave foi recusada ou não tem saldo: verifique OPENAI_API_KEY"),
    (ProviderRetired, "este serviço não existe mais: verifique OPENAI_BASE_URL"),
    (ProviderUnreachable, "sem conexão ou sem resposta a tempo: verifique a rede e OPENAI_BASE_URL"),
    (ProviderOverloaded, "o serviço está sobrecarregado ou com falha: tente mais tarde"),
    (ContentFiltered, "o filtro do serviço bloqueou a resposta: pergunte com outras palavras"),
    (ProviderError, "o serviço não aceitou o pedido ou respondeu algo inesperado"),
)


def user_message(error: Exception) -> str:
    """The sentence for users; of a FileNotFoundError or a ValueError its own text."""
    if isinstance(error, ConfigurationError):
        return f"Configuração inválida: {error}"
    if isinstance(error, DatabaseError):
        return _DATABASE
    return _SERVICE if isinstance(error, ExternalServiceError) else str(error)


def explanation(error: Exception) -> str:
    """What `user_message` leaves out: the cause, and what to do; empty where it leaves out nothing."""
    return str(error) if isinstance(error, (DatabaseError, ExternalServiceError)) else ""


@contextmanager
def translated(model_setting: str) -> Iterator[None]:
    """Turns the errors of the database and of the engine into RAGErrors; the setting names the model that is asked."""
    try:
        yield
    except SQLAlchemyError as error:
        raise DatabaseError(f"{_database_cause(error)}: verifique DATABASE_URL e o servidor") from error
    except ProviderError as error:
        cause = next(text for kind, text in _CAUSES if isinstance(error, kind))
        raise ExternalServiceError(f"{cause.format(model_setting=model_setting)} ({error})") from error
    except AnswerableError as error:
        raise ConfigurationError(str(error)) from error


def _database_cause(error: SQLAlchemyError) -> str:
    """The first line of what the database's driver says."""
    said = str(getattr(error, "orig", None) or error).strip()
    return printable_line(said.splitlines()[0]) if said else type(error).__name__
