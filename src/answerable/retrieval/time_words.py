"""The words for time in English, Spanish and Portuguese, in lower case and without accents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """What the word before a date makes of it."""

    AT = "in"
    SINCE = "since"
    UNTIL = "until"
    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"
    OF = "of"
    FOR = "for"


@dataclass(frozen=True, slots=True)
class TimeWords:
    """One language. Patterns are regular expressions, in which MONTH, WEEKDAY, NUMBER and UNIT stand for any of them.

    `dates` have at least a month, and a day or a year. `relative` has patterns by how many of a unit ago ("week1" is
    last week); `ago` and `last` are those of "two weeks ago" and "the last two weeks". `gone`, before or behind it,
    makes a month or weekday the last one. `neutral` may stand between a date and the word that gives its role. `range`
    stands between the ends of one; `also` between two dates, and ends a range that the role BETWEEN begins. `past` are
    verbs in the past, `said` nouns for what was said.
    """

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    numbers: Mapping[str, int]
    units: Mapping[str, str]
    roles: Mapping[str, Role]
    dates: tuple[str, ...]
    relative: Mapping[str, str]
    ago: tuple[str, ...]
    last: tuple[str, ...]
    gone: tuple[str, str]
    neutral: str
    range: str
    also: str
    past: str
    said: str


def _numbered(words: str, start: int = 1) -> dict[str, int]:
    return {word: number for number, same in enumerate(words.split(), start) for word in same.split("|")}


def _by_word(table: str) -> dict[str, str]:
    entries = (entry.split(":") for entry in table.split())
    return {word.replace("_", " "): value for value, words in entries for word in words.split("|")}


def _roles(table: str) -> dict[str, Role]:
    return {word: Role(value) for word, value in _by_word(table).items()}


_ROMANCE_DATES = (
    r"(?P<day>\d{1,2}|primero|primeiro) de (?P<month>MONTH)(?:(?: del?|,)? (?P<year>[12]\d{3}))?",
    r"(?P<month>MONTH)(?: del? |, ?|/| )(?P<year>[12]\d{3})",
)

ENGLISH = TimeWords(
    months=_numbered(
        """january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sep|sept
        october|oct november|nov december|dec"""
    ),
    weekdays=_numbered("monday tuesday wednesday thursday friday saturday sunday", 0),
    numbers=_numbered("a|an|one two three four five six seven eight nine ten"),
    units=_by_word("day:day|days week:week|weeks month:month|months year:year|years"),
    roles=_roles(
        """in:in|on|during|at|throughout since:since|from|starting until:until|till|up_to|through
        before:before after:after between:between of:of for:for|by"""
    ),
    dates=(
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>MONTH)(?:,? (?:of )?(?P<year>[12]\d{3}))?",
        r"(?P<month>MONTH) (?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?:of )?(?P<year>[12]\d{3}))?",
        r"(?P<month>MONTH),? (?:of )?(?P<year>[12]\d{3})",
    ),
    relative={
        "day2": "(?:the )?day before yesterday",
        "day1": "yesterday(?: (?:morning|afternoon|evening|night))?|last night",
        "day0": "today|this (?:morning|afternoon|evening)",
        "week1": "(?:the )?(?:last|previous) week",
        "week0": "this week",
        "month1": "(?:the )?(?:last|previous) month",
        "month0": "this month",
        "year1": "(?:the )?(?:last|previous) year",
        "year0": "this year",
        "weekend1": "(?:the )?last weekend",
    },
    ago=("NUMBER UNIT ago",),
    last=("(?:the )?(?:last|past|previous) NUMBER UNIT",),
    gone=("(?:the )?last ", ""),
    neutral="the|month of|early|late|mid|day|(?:beginning|start|middle|end|night|evening|morning|afternoon) of|WEEKDAY",
    range="to|until|till|through",
    also="and",
    past=r"""did didn't was were had said told wrote went came got gave made sent took saw met paid bought found thought
        spoke knew left felt kept read put chose ate drank began broke brought held heard lost ran sold slept spent won
        shared \w{2,}ed""",
    said="messages?|chats?|conversations?",
)

SPANISH = TimeWords(
    months=_numbered(
        "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre"
    ),
    weekdays=_numbered("lunes martes miercoles jueves viernes sabado domingo", 0),
    numbers=_numbered("un|una|uno dos tres cuatro cinco seis siete ocho nueve diez"),
    units=_by_word("day:dia|dias week:semana|semanas month:mes|meses year:ano|anos"),
    roles=_roles(
        """in:en|durante|por since:desde|a_partir_de|a_partir_del until:hasta before:antes_de|antes_del
        after:despues_de|despues_del|tras between:entre of:de|del for:para"""
    ),
    dates=_ROMANCE_DATES,
    relative={
        "day2": "anteayer|antier|antes de ayer",
        "day1": "anoche|ayer(?: (?:por|a|en) la (?:manana|tarde|noche))?",
        "day0": "hoy|esta (?:manana|tarde|noche)",
        "week1": "(?:la )?(?:semana (?:pasada|anterior)|pasada semana)",
        "week0": "esta semana",
        "month1": "(?:el )?(?:mes (?:pasado|anterior)|pasado mes)",
        "month0": "este mes",
        "year1": "(?:el )?(?:ano (?:pasado|anterior)|pasado ano)",
        "year0": "este ano",
        "weekend1": "el (?:fin de semana|finde) pasado|el pasado (?:fin de semana|finde)",
    },
    ago=("hace NUMBER UNIT",),
    last=("l[oa]s (?:ultim[oa]s|pasad[oa]s) NUMBER UNIT", "l[oa]s NUMBER (?:ultim[oa]s|pasad[oa]s) UNIT"),
    gone=("(?:el )?pasado ", " (?:pasado|anterior)"),
    neutral="el|la|dia|mes de|(?:a )?(?:principios|mediados|finales|fines|comienzos) de|(?:noche|tarde) del|WEEKDAY",
    range="a|al|hasta",
    also="y|e",
    past=r"""dij\w+ hizo hice hicimos hicieron hub[oi]\w* fue fueron fuimos tuv[oi]\w* estuv[oi]\w* pus[oi]\w*
        pud[oi]\w* quis[oi]\w* vino vinieron traj[oe]\w* dio dieron vio vieron sup[oi]\w* propus[oi]\w* ha han hemos
        habia\w* era eran iba iban \w{2,}(?:aron|ieron|yeron|amos|imos|aba|aban|ia|ian)
        (?:habl|cont|coment|mencion|pregunt|mand|envi|recomend|pas|pag|compr|reserv|qued|acord|llam|llev|encontr)o""",
    said="mensajes?|conversacion(?:es)?|chats?",
)

PORTUGUESE = TimeWords(
    months=_numbered("janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro"),
    weekdays=_numbered(
        """segunda-feira|segunda terca-feira|terca quarta-feira|quarta quinta-feira|quinta sexta-feira|sexta sabado
        domingo""",
        0,
    ),
    numbers=_numbered("um|uma dois|duas tres quatro cinco seis sete oito nove dez"),
    units=_by_word("day:dia|dias week:semana|semanas month:mes|meses year:ano|anos"),
    roles=_roles(
        """in:em|no|na|durante|por since:desde|a_partir_de|a_partir_do until:ate before:antes_de|antes_do
        after:depois_de|depois_do|apos between:entre of:de|do|da for:para|pra|pro"""
    ),
    dates=_ROMANCE_DATES,
    relative={
        "day2": "anteontem|antes de ontem",
        "day1": "ontem(?: (?:a|de|pela) (?:noite|tarde|manha))?",
        "day0": "hoje|n?(?:esta|essa) (?:manha|tarde|noite)",
        "week1": "(?:n?a )?semana (?:passada|anterior)",
        "week0": "n?(?:esta|essa) semana",
        "month1": "(?:n?o )?mes (?:passado|anterior)",
        "month0": "n?(?:este|esse) mes",
        "year1": "(?:n?o )?ano (?:passado|anterior)",
        "year0": "n?(?:este|esse) ano",
        "weekend1": "(?:n?o )?(?:fim|final) de semana passado",
    },
    ago=("(?:ha|faz) NUMBER UNIT(?: atras)?", "NUMBER UNIT atras"),
    last=("(?:n?[oa]s )?ultim[oa]s NUMBER UNIT",),
    gone=("ultim[oa] ", " (?:passad[oa]|anterior)"),
    neutral="o|a|os|dia|mes de|(?:inicio|comeco|meados|final|fim|finais) de|(?:noite|tarde|manha) d[eo]|WEEKDAY",
    range="a|ao|ate",
    also="e",
    past=r"""diss\w+ fez fiz fizeram foi foram fomos teve tiveram esteve estiveram pos pus puseram pode puderam quis
        quiseram veio vieram trouxe\w* deu deram viu viram soube\w* propos propuseram era eram tinha tinham
        \w{2,}(?:ou|eu|iu|aram|eram|iram|amos|emos|imos|ava|avam|ia|iam)""",
    said="mensage(?:m|ns)|conversas?|chats?",
)

TIME_WORDS: Mapping[str, TimeWords] = {"en": ENGLISH, "es": SPANISH, "pt": PORTUGUESE}
