"""What is printed around an answer in words of ours, in the language of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from answerable.datatypes import Answer, Location, Narrowing, Reason

_Texts = Mapping[str, str]

_REASONS: Mapping[Reason, _Texts] = {
    Reason.EMPTY_LIBRARY: {"es": "biblioteca vacía", "pt": "biblioteca vazia"},
    Reason.NOTHING_FOUND: {"es": "no se encontró nada", "pt": "nada foi encontrado"},
    Reason.WEAK_EVIDENCE: {"es": "indicios débiles", "pt": "indícios fracos"},
    Reason.UNCLEAR: {"es": "no está claro qué calcular", "pt": "não está claro o que calcular"},
    Reason.NO_ROWS: {"es": "ninguna fila de ese tiempo", "pt": "nenhuma linha desse tempo"},
    Reason.UNSUPPORTED: {
        "es": "la comprobación no halló en los pasajes nada de lo que escribió el modelo",
        "pt": "a verificação não achou nos trechos nada do que o modelo escreveu",
    },
    Reason.MODEL_REFUSED: {"es": "el modelo no encontró respuesta", "pt": "o modelo não encontrou resposta"},
    Reason.OWN_WORDS: {
        "es": "palabras del propio modelo, que no afirman nada de los documentos",
        "pt": "palavras do próprio modelo, que nada afirmam dos documentos",
    },
}
_CHECKED: _Texts = {
    "en": "checked {n} passage|checked {n} passages",
    "es": "se revisó {n} pasaje|se revisaron {n} pasajes",
    "pt": "{n} trecho analisado|{n} trechos analisados",
}
_SHOWS_IT: _Texts = {
    "en": "{how} shows it|{how} shows the nearest",
    "es": "{how} lo muestra|{how} muestra los más cercanos",
    "pt": "{how} o mostra|{how} mostra os mais próximos",
}
_NEAREST: _Texts = {
    "en": "The nearest passages:",
    "es": "Los pasajes más cercanos:",
    "pt": "Os trechos mais próximos:",
}
_NOT_ENOUGH: _Texts = {
    "en": "The nearest passages; that they answer is too unlikely ({share}):",
    "es": "Los pasajes más cercanos; es demasiado improbable que respondan ({share}):",
    "pt": "Os trechos mais próximos; é improvável demais que respondam ({share}):",
}
_NARROWED: _Texts = {
    "en": "messages: only {to}",
    "es": "mensajes: solo {to}",
    "pt": "mensagens: só {to}",
}
_PLACES: Mapping[str, _Texts] = {
    "es": {"to": "a", "line": "línea", "page": "página", "slide": "diapositiva", "cell": "celda"},
    "pt": {"to": "a", "line": "linha", "page": "página", "slide": "slide", "cell": "célula"},
}
_IN_VAIN: _Texts = {
    "en": "nothing relevant under: {to}; searched everything",
    "es": "nada pertinente en: {to}; se buscó en todo",
    "pt": "nada pertinente em: {to}; a busca incluiu tudo",
}
_SINCE: _Texts = {"en": "since {day}", "es": "desde {day}", "pt": "desde {day}"}
_UNTIL: _Texts = {"en": "until {day}", "es": "hasta {day}", "pt": "até {day}"}
_BETWEEN: _Texts = {"en": "{first} to {last}", "es": "{first} a {last}", "pt": "{first} a {last}"}
_MORE_PLACES: _Texts = {
    "en": "… and {n} more place: --json shows it|… and {n} more places: --json shows them",
    "es": "… y {n} lugar más: --json lo muestra|… y {n} lugares más: --json los muestra",
    "pt": "… e mais {n} lugar: --json o mostra|… e mais {n} lugares: --json os mostra",
}
_OTHER_PLACES: _Texts = {
    "en": "and in {n} other place|and in {n} other places",
    "es": "y en otro lugar|y en otros {n} lugares",
    "pt": "e em outro lugar|e em outros {n} lugares",
}
_UNAVAILABLE: _Texts = {
    "en": "without the library {library}, which can't be asked: {reason}",
    "es": "sin la biblioteca {library}, que no se puede consultar: {reason}",
    "pt": "sem a biblioteca {library}, que não pode ser consultada: {reason}",
}
_SAVED_FROM: _Texts = {"en": "saved from {web}", "es": "guardada de {web}", "pt": "salva de {web}"}
_MARKED: _Texts = {
    "en": "{n} sentence marked: the check found no passage that says it|"
    "{n} sentences marked: the check found no passage that says them",
    "es": "{n} frase marcada: la comprobación no halló ningún pasaje que la diga|"
    "{n} frases marcadas: la comprobación no halló ningún pasaje que las diga",
    "pt": "{n} frase marcada: a verificação não achou nenhum trecho que a diga|"
    "{n} frases marcadas: a verificação não achou nenhum trecho que as diga",
}


def place(location: Location, language: str) -> str:
    """Return a place in a document in a few words."""
    return location.said(_PLACES.get(language, {}))


def why(reason: Reason, language: str) -> str:
    """Return the reason of an answer or refusal in words."""
    return _REASONS.get(reason, {}).get(language, str(reason))


def why_refused(found: Answer, how: str = "") -> str:
    """Return why an answer is a refusal and how much was read; `how` is what shows the nearest passages."""
    n = len(found.results)
    checked = _counted(_CHECKED, found.language, n)
    shows = f"; {_counted(_SHOWS_IT, found.language, n, how=how)}" if how else ""
    return f"{why(found.reason, found.language)}; {checked}{shows}"


def nearest(found: Answer) -> str:
    """Return the line above the nearest passages of a refusal, with why they were not enough if that was weighed."""
    texts = _NOT_ENOUGH if found.reason is Reason.WEAK_EVIDENCE else _NEAREST
    share = "< 1%" if found.confidence < 0.01 else f"{found.confidence:.0%}"
    return _in(texts, found.language).format(share=share)


def narrowed(found: Narrowing, language: str = "en") -> str:
    """Return the filter taken from a question, or that nothing was found under it."""
    to = ", ".join([*found.senders, *(_days(start, end, language) for start, end in found.periods)])
    return _in(_NARROWED if found.applied else _IN_VAIN, language).format(to=to)


def more_places(count: int, language: str) -> str:
    """Return how many places are not printed."""
    return _counted(_MORE_PLACES, language, count)


def other_places(count: int, language: str) -> str:
    """Return the number of other places that have the same text, in words; "" for none."""
    return _counted(_OTHER_PLACES, language, count) if count else ""


def unavailable(library: str, reason: str, language: str) -> str:
    """Return which library couldn't be asked, and why."""
    return _in(_UNAVAILABLE, language).format(library=library, reason=reason)


def saved_from(web: str, language: str) -> str:
    """Return the address that a page was saved from, in words."""
    return _in(_SAVED_FROM, language).format(web=web)


def unsupported(found: Answer) -> str:
    """Return how many sentences of an answer are marked as not verified; "" if none."""
    marked = sum(check.support == "unsupported" and check.text in found.text for check in found.checks)
    return _counted(_MARKED, found.language, marked) if marked else ""


def _in(texts: _Texts, language: str) -> str:
    return texts.get(language, texts["en"])


def _counted(texts: _Texts, language: str, count: int, **values: str) -> str:
    one, several = _in(texts, language).split("|")
    return (one if count == 1 else several).format(n=f"{count:,}", **values)


def _days(start: datetime, end: datetime, language: str) -> str:
    first, last = f"{start:%Y-%m-%d}", f"{end - timedelta(microseconds=1):%Y-%m-%d}"
    if end == datetime.max:
        return _in(_SINCE, language).format(day=first)
    if start == datetime.min:
        return _in(_UNTIL, language).format(day=last)
    return first if first == last else _in(_BETWEEN, language).format(first=first, last=last)
