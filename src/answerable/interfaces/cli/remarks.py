"""Texts of the program itself that are printed around an answer, in the language of the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from answerable.answering.messages import phrase
from answerable.datatypes import Answer, Narrowing, Reason, Step
from answerable.interfaces.cli.printing import one_line
from answerable.interfaces.written import asked_of
from answerable.text.word_lists import LANGUAGES, read_toml

_Texts = Mapping[str, str]

_REASONS: Mapping[Reason, _Texts] = {
    Reason.PARTLY: {
        "es": "los documentos responden a una parte",
        "pt": "os documentos respondem a uma parte",
    },
    Reason.EMPTY_LIBRARY: {"es": "biblioteca vacía", "pt": "biblioteca vazia"},
    Reason.NOTHING_FOUND: {"es": "no se encontró nada", "pt": "nada foi encontrado"},
    Reason.NEAR: {"es": "solo hay algo cercano", "pt": "só há algo próximo"},
    Reason.WEAK_EVIDENCE: {"es": "indicios débiles", "pt": "indícios fracos"},
    Reason.UNCLEAR: {"es": "no está claro qué calcular", "pt": "não está claro o que calcular"},
    Reason.UNSUPPORTED: {
        "es": "la comprobación no halló en los pasajes nada de lo que escribió el modelo",
        "pt": "a verificação não achou nos trechos nada do que o modelo escreveu",
    },
    Reason.MODEL_REFUSED: {"es": "el modelo no encontró respuesta", "pt": "o modelo não encontrou resposta"},
    Reason.OWN_WORDS: {
        "en": "the model's own words: no document is their source",
        "es": "palabras del propio modelo: ningún documento es su fuente",
        "pt": "palavras do próprio modelo: nenhum documento é a sua fonte",
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
_TOO_UNLIKELY: _Texts = {
    "en": "Refused: the best sentence, “{text}”, has a chance of {share} of answering; {least} is needed",
    "es": "Rechazada: la mejor frase, «{text}», tiene un {share} de probabilidad de responder; hace falta un {least}",
    "pt": "Recusada: a melhor frase, “{text}”, tem {share} de chance de responder; é preciso ter {least}",
}
_NARROWED: _Texts = {
    "en": "messages: only {to}",
    "es": "mensajes: solo {to}",
    "pt": "mensagens: só {to}",
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
_WAITING: _Texts = {
    "en": "{count} passages were searched by their words only: their vectors are still to be made (answerable sync)",
    "es": "{count} pasajes se han buscado solo por sus palabras: faltan sus vectores (answerable sync)",
    "pt": "{count} trechos foram buscados só pelas palavras: faltam os seus vetores (answerable sync)",
}
_SAVED_FROM: _Texts = {"en": "saved from {web}", "es": "guardada de {web}", "pt": "salva de {web}"}
_CLAIMED = ("verified", "check", "unsupported")
_DOING: Mapping[str, _Texts] = {
    "search": {"en": "searching: {asked}", "es": "buscando: {asked}", "pt": "buscando: {asked}"},
    "read": {"en": "reading: {asked}", "es": "leyendo: {asked}", "pt": "lendo: {asked}"},
    "read_all": {"en": "reading: {asked}", "es": "leyendo: {asked}", "pt": "lendo: {asked}"},
    "list_documents": {"en": "listing documents", "es": "listando documentos", "pt": "listando documentos"},
    "table": {"en": "computing: {asked}", "es": "calculando: {asked}", "pt": "calculando: {asked}"},
    "evidence": {"en": "looking up sources", "es": "buscando las fuentes", "pt": "procurando as fontes"},
}


def why(reason: Reason, language: str) -> str:
    """Return the reason of an answer or refusal in words."""
    return _REASONS.get(reason, {}).get(language, str(reason))


def why_refused(found: Answer, how: str = "") -> str:
    """Return why a question is refused and how much was read; `how` names the command to show the nearest passages."""
    n = len(found.results)
    checked = _counted(_CHECKED, found.language, n)
    shows = f"; {_counted(_SHOWS_IT, found.language, n, how=how)}" if how else ""
    return f"{why(found.reason, found.language)}; {checked}{shows}"


def nearest(language: str) -> str:
    """Return the line above the nearest passages of a refusal."""
    return phrase(_NEAREST, language)


def refused(found: Answer) -> str:
    """Return why the best sentence doesn't answer, with its chance and the chance needed; "" if there is none."""
    decided = next((step for step in reversed(found.why) if step.name == "decide"), None)
    if decided is None or found.reason not in (Reason.WEAK_EVIDENCE, Reason.NEAR) or "threshold" not in decided.values:
        return ""
    text = " ".join(str(decided.chose["text"]).split())
    confidence, threshold = (float(decided.values[name]) for name in ("confidence", "threshold"))
    if confidence >= threshold:
        # The answer itself says how the sentence differs.
        return ""
    # Show a decimal if the chance and the chance needed would otherwise round to the same number.
    places = int(percent(confidence) == percent(threshold))
    share, least = percent(confidence, places), percent(threshold, places)
    return phrase(_TOO_UNLIKELY, found.language).format(text=text, share=share, least=least)


def percent(share: float, places: int = 0) -> str:
    """Return a share from 0 to 1 in per cent, in the format of all printed shares."""
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.{places}f} %"


def score(value: float) -> str:
    """Return a score of a passage, a sentence or the reader model, in the format of all printed scores."""
    return f"{value:.3f}"


def word(name: str, language: str) -> str:
    """Return the name of a step, a fact or a value; in English if there is no translation to the language."""
    words = read_toml(Path(__file__).with_name("why.toml")).get(name, [name] * 3)
    return str(words[LANGUAGES.index(language) if language in LANGUAGES else 0])


def narrowed(found: Narrowing, language: str = "en") -> str:
    """Return the filter taken from a question, or a note that nothing was found with it."""
    to = ", ".join([*found.senders, *(_days(start, end, language) for start, end in found.periods)])
    return phrase(_NARROWED if found.applied else _IN_VAIN, language).format(to=to)


def more_places(count: int, language: str) -> str:
    """Return a note about how many places aren't printed."""
    return _counted(_MORE_PLACES, language, count)


def other_places(count: int, language: str) -> str:
    """Return the number of other places that have the same text, in words; "" for none."""
    return _counted(_OTHER_PLACES, language, count) if count else ""


def unavailable(library: str, reason: str, language: str) -> str:
    """Return a note about which library couldn't be searched, and why."""
    return phrase(_UNAVAILABLE, language).format(library=library, reason=reason)


def waiting(passages: int, language: str) -> str:
    """Return a note about how many passages were only searched by their words."""
    return phrase(_WAITING, language).format(count=passages)


def saved_from(web: str, language: str) -> str:
    """Return a note with the address from which a page was saved."""
    return phrase(_SAVED_FROM, language).format(web=web)


def checked(found: Answer) -> str:
    """Return how many sentences in a model's answer have which mark; "" if none claims anything."""
    counts = Counter(check.support for check in found.checks if check.text in found.text)
    return "; ".join(f"{word(mark, found.language)}: {counts[mark]}" for mark in _CLAIMED if counts[mark])


def doing(step: Step, language: str) -> str:
    """Return what a model does while it runs a tool, on one line; "" for an unknown tool."""
    return one_line(phrase(_DOING.get(step.name, {"en": ""}), language).format(asked=asked_of(step)))


def _counted(texts: _Texts, language: str, count: int, **values: str) -> str:
    one, several = phrase(texts, language).split("|")
    return (one if count == 1 else several).format(n=f"{count:,}", **values)


def _days(start: datetime, end: datetime, language: str) -> str:
    first, last = f"{start:%Y-%m-%d}", f"{end - timedelta(microseconds=1):%Y-%m-%d}"
    if end == datetime.max:
        return phrase(_SINCE, language).format(day=first)
    if start == datetime.min:
        return phrase(_UNTIL, language).format(day=last)
    return first if first == last else phrase(_BETWEEN, language).format(first=first, last=last)
