"""Sentences whose form tells what they answer, in English, Spanish and Portuguese → the question that asks for it.

Each rule has a pattern, whose group `a` is the answer, and the question with the other groups in it. `s` is what the
sentence is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from answerable.text.stop_words import STOP_WORDS

_OPENING = {
    "en": """
    It This That These Those They He She We You I There Here Its Their His Her Such Other Another What When Where Who
    If In On At By For From With To As After Before Since While Although Because Over Under One Two Three Some Many
    Both Not Long Of And But So Unlike
    """,
    "es": """
    Esto Este Esta Estos Estas Ese Esa Eso Aquel Aquella Ello Él Ella Ellos Ellas Su Sus Se Lo No Si En Que Qué Cuando
    Como Ahí Allí Aquí Donde Puesto Uno Dos Tres Otro Otra Tras Desde Para Por Con Al Del Aunque Entre Sin Y
    """,
    "pt": """
    Isto Este Esta Estes Estas Esse Essa Isso Aquele Aquela Ele Ela Eles Elas Seu Sua Seus Suas Se Não Em No Na Nos Nas
    Que Quando Como Lá Aqui Onde Dois Três Outro Outra Após Desde Para Por Com Ao Do Da Embora Entre Sem E
    """,
}
"""What a sentence begins with that isn't about what its subject names, or points to another sentence."""
_DANGLING = frozenset("not never also no nunca también lo la le se los las não também".split())
_POINTING_BACK = re.compile(
    r"(?i)\b(?:these|those|such|est[aeo]s?|es[aeo]s?|dich[oa]s?|[dn]?(?:ess|est)[aes]{1,2}|[dn]?(?:isso|isto))\b"
)
_MOST_WORDS = 6
"""Longer subjects are mostly two clauses."""
_FEMININE = re.compile(r"(?:as|ades|[cs]iones|[çs]ões)$")
_DETERMINERS = {
    "en": frozenset("The A An Each Every All Most Some".split()),
    "es": frozenset("El La Los Las Un Una Cada Todo Todos Todas".split()),
    "pt": frozenset("O A Os As Um Uma Cada Todo Todos Todas".split()),
}
_MONTHS = {
    "en": "January|February|March|April|May|June|July|August|September|October|November|December",
    "es": "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    "pt": "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
}
_YEAR = r"(?:1\d{3}|20\d{2})(?![\d.,]\d)"
_DATES = {
    "en": rf"(?:(?:\d{{1,2}} )?(?:{_MONTHS['en']})(?: \d{{1,2}})?,? )?{_YEAR}",
    **{
        code: rf"(?:(?:\d{{1,2}}º? de )?(?:{_MONTHS[code]}) del? )?{_YEAR}|\d{{1,2}} de (?:{_MONTHS[code]})"
        for code in ("es", "pt")
    },
}
_NUMBERS = {
    "en": "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve",
    "es": "dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce",
    "pt": "dois|duas|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze",
}
_ABOUT = {"en": "about |around |up to |at least ", "es": "unos |unas |casi |hasta ", "pt": "cerca de |quase |até "}
_TIMES = {
    "en": "seconds?|minutes?|hours?|days?|weeks?|months?|years?",
    "es": "segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?",
    "pt": "segundos?|minutos?|horas?|dias?|semanas?|mês|meses|anos?",
}
_NAME = r"[A-ZÀ-Þ][\w’'-]+(?: (?:(?:de|da|do|del|of|von|van) )?[A-ZÀ-Þ][\w’'-]+){0,3}"
_DONE = {
    "en": r"(?:\w+ed|built|written|made|born|held|won|sold|sent|given|taken|lost|begun|found|led|drawn)",
    "es": r"\w+(?:[ai]d[oa]s?|[cis]t[oa]s?|ert[oa]s?|ch[oa]s?)",
    "pt": r"\w+(?:[ai]d[oa]s?|íd[oa]s?|[cis]t[oa]s?|ert[oa]s?)",
}
_PLAIN_FORMS = {
    "opened": "open",
    "died": "die",
    "began": "begin",
    "ended": "end",
    "started": "start",
    "closed": "close",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """What a sentence must look like, the question in a `str.format` of its groups, and what the question asks for."""

    type: str
    pattern: re.Pattern[str]
    question: str


@dataclass(frozen=True, slots=True)
class Asking:
    """A question that a sentence answers, and the span of the answer in it."""

    type: str
    question: str
    start: int
    end: int


def questions_of(sentence: str, language: str) -> Iterator[Asking]:
    """What a sentence answers by its form; nothing in other languages. Offsets are in the sentence."""
    for rule in RULES.get(language, ()):
        match = rule.pattern.match(sentence)
        if match and _is_subject(match["s"]) and (rule.type != "definition" or _is_whole(match["a"], language)):
            groups = {name: text or "" for name, text in match.groupdict().items()}
            groups["s"] = _within(groups["s"], language)
            groups["plain"] = _PLAIN_FORMS.get(groups.get("v", ""), "")
            groups["many"] = "as" if _FEMININE.search(groups.get("u", "")) else "os"
            yield Asking(rule.type, " ".join(rule.question.format(**groups).split()), *match.span("a"))


def _is_subject(text: str) -> bool:
    words = text.split()
    return len(words) <= _MOST_WORDS and words[-1].lower() not in _DANGLING


def _is_whole(definition: str, language: str) -> bool:
    """Whether it neither breaks off nor needs another sentence."""
    last = definition.split()[-1].lower()
    return last not in STOP_WORDS[language] and not _POINTING_BACK.search(definition)


def _within(subject: str, language: str) -> str:
    """The subject as it stands within a sentence."""
    first = subject.split(" ", 1)[0]
    return subject[0].lower() + subject[1:] if first in _DETERMINERS[language] else subject


def _rules(language: str, patterns: tuple[tuple[str, str, str], ...]) -> tuple[Rule, ...]:
    parts = {
        "<s>": rf"(?P<s>(?!(?:{'|'.join(_OPENING[language].split())})\b)[A-ZÀ-Þ][^,;:.!?()|\n“”\"«»]{{1,60}}?)",
        "<rest>": r"(?P<rest>(?: [^,;:.!?()|\n]{1,40}?)?)",
        "<date>": rf"(?P<a>{_DATES[language]})\b",
        "<number>": rf"(?:{_ABOUT[language]})?(?:\d[\d.,]*(?<=\d)|{_NUMBERS[language]})",
        "<amount>": r"(?P<a>[$€£]\s?\d[\d.,]*(?<=\d)|\d[\d.,]*(?<=\d)(?: ?[^\W\d_]+| ?[€%])?)",
        "<time>": f"(?:{_TIMES[language]})",
        "<name>": rf"(?P<a>{_NAME})",
        "<done>": _DONE[language],
        "<what>": r"[^,.;:!?()|\n]{8,120}\b(?= ?[,;:(]|[.!?]?$)",
    }
    found = []
    for kind, pattern, question in patterns:
        for name, part in parts.items():
            pattern = pattern.replace(name, part)
        found.append(Rule(kind, re.compile(pattern), question))
    return tuple(found)


RULES = {
    "en": _rules(
        "en",
        (
            ("date", r"<s> (?P<be>was|were) (?P<v><done><rest>) (?:in|on) <date>", "When {be} {s} {v}?"),
            ("date", rf"<s> (?P<v>{'|'.join(_PLAIN_FORMS)}) (?:in|on) <date>", "When did {s} {plain}?"),
            ("person", r"<s> (?P<be>was|were) (?P<v><done>) by <name>", "Who {be} {s} {v} by?"),
            ("number", r"<s> (?:has|contains|holds) (?P<a><number>) (?P<u>\w+s)\b", "How many {u} does {s} have?"),
            ("number", r"<s> (?:have|contain|hold) (?P<a><number>) (?P<u>\w+s)\b", "How many {u} do {s} have?"),
            ("number", r"<s> costs <amount>", "How much does {s} cost?"),
            ("number", r"<s> (?P<v>take|last)s (?P<a><number>(?: to <number>)? <time>)", "How long does {s} {v}?"),
            ("number", r"<s> (?P<be>is|are) (?P<a><number> \w+) (?P<u>long|tall|high|wide|deep)", "How {u} {be} {s}?"),
            ("definition", r"<s> (?P<be>is|are) (?P<a>(?:an?|the|one of) <what>)", "What {be} {s}?"),
        ),
    ),
    "es": _rules(
        "es",
        (
            ("date", r"<s> (?P<v>fue(?:ron)? <done>)<rest> (?:en|el) <date>", "¿Cuándo {v} {s}{rest}?"),
            ("date", r"<s> (?P<v>(?:se )?\w+(?:ó|aron|ieron))<rest> (?:en|el) <date>", "¿Cuándo {v} {s}{rest}?"),
            ("person", r"<s> (?P<v>fue(?:ron)? <done>) por <name>", "¿Por quién {v} {s}?"),
            ("number", r"<s> (?P<v>(?:cont|t)ienen?) (?P<a><number>) (?P<u>\w+s)\b", "¿Cuánt{many} {u} {v} {s}?"),
            ("number", r"<s> (?P<v>(?:cuesta|mide|pesa)n?) <amount>", "¿Cuánto {v} {s}?"),
            ("number", r"<s> (?P<v>(?:dura|tarda)n?) (?P<a><number>(?: a <number>)? <time>)", "¿Cuánto {v} {s}?"),
            ("definition", r"<s> (?P<be>es|son) (?P<a>(?:una?|el|la|los|las) <what>)", "¿Qué {be} {s}?"),
        ),
    ),
    "pt": _rules(
        "pt",
        (
            ("date", r"<s> (?P<v>(?:foi|foram) <done>)<rest> (?:em|no dia|a) <date>", "Quando {s} {v}{rest}?"),
            ("date", r"<s> (?P<v>(?:se )?\w+(?:ou|eu|iu|[aei]ram))<rest> em <date>", "Quando {s} {v}{rest}?"),
            ("person", r"<s> (?P<v>(?:foi|foram) <done>) (?:por|pel[oa]) <name>", "Por quem {s} {v}?"),
            ("number", r"<s> (?P<v>t[eê]m|contêm|contém) (?P<a><number>) (?P<u>\w+s)\b", "Quant{many} {u} {s} {v}?"),
            ("number", r"<s> (?P<v>(?:custa|mede|pesa)m?) <amount>", "Quanto {v} {s}?"),
            ("number", r"<s> (?P<v>(?:dura|leva)m?) (?P<a><number>(?: a <number>)? <time>)", "Quanto tempo {v} {s}?"),
            ("definition", r"<s> (?P<be>é|são) (?P<a>(?:uma?|[oa]s?) <what>)", "O que {be} {s}?"),
        ),
    ),
}
HEADING_QUESTIONS = {
    "en": "What does “{title}” say about “{heading}”?",
    "es": "¿Qué dice «{title}» sobre «{heading}»?",
    "pt": "O que diz «{title}» sobre «{heading}»?",
}
