"""What kind of thing a question asks for, and whether a sentence has one: a date, a number, a person."""

from __future__ import annotations

import re
from enum import Enum

from answerable.answering.evidence import Sentence
from answerable.text.terms import fold, words

_MONTHS_AND_DAYS = """
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
lunes martes miercoles jueves viernes sabado domingo
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
segunda terça quarta quinta sexta sabado domingo
"""
_TIMES = """
today tonight tomorrow yesterday century centuries decade decades midnight noon morning afternoon evening night
spring summer autumn winter
hoy mañana ayer anoche siglo siglos decada decadas medianoche mediodia tarde noche madrugada
primavera verano otoño invierno
hoje amanhã ontem seculo seculos manhã noite verão outono inverno
"""
_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million
millions billion billions trillion dozen dozens half third quarter twice once double triple both
cero dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho
diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento cientos mil miles millon
millones docena docenas mitad tercio cuarto doble triple ambos ambas
dois duas tres quatro sete oito nove dez onze doze treze catorze quatorze quinze dezesseis dezasseis dezessete dezoito
dezenove vinte trinta quarenta cinquenta sessenta oitenta cem cento centenas milhar milhares milhão milhões bilhão
bilhões duzia duzias metade terço dobro
"""
DATE_WORDS = frozenset(fold(word) for word in (_MONTHS_AND_DAYS + _TIMES).split())
NUMBER_WORDS = frozenset(fold(word) for word in _NUMBERS.split())

_ASKS = {
    "date": r"""
        when | (?:in\ )?(?:what|which)\ (?:year|date|day|month|century|decade|time|period)s?
        | cuando | (?:que|cual)\ (?:(?:es|fue|era)\ la\ )?(?:ano|fecha|dia|mes|siglo|decada|hora|epoca)s?
        | quando | (?:que|qual)\ (?:(?:e|foi|era)\ a\ |[oa]\ )?(?:ano|data|dia|mes|seculo|decada|hora|epoca)s?
    """,
    "number": r"""
        how\ (?:many|much|long|far|old|tall|high|deep|large|big|often|fast|wide|heavy)
        | (?:what|which)\ (?:\w+\ ){0,2}?(?:percentage|percent|number|amount|population|distance|price|cost|share|age)
        | cuant[oa]s? | quant[oa]s?
        | (?:que|cual)\ (?:\w+\ ){0,3}?(?:porcentaje|numero|cantidad|poblacion|distancia|precio|coste|costo|edad)
        | (?:que|qual)\ (?:\w+\ ){0,3}?(?:porcentagem|percentagem|numero|quantidade|populacao)
        | (?:que|qual)\ (?:\w+\ ){0,3}?(?:distancia|preco|custo|idade)
    """,
    "person": r"who | whom | whose | quien(?:es)? | quem",
}
_PATTERNS = {kind: re.compile(rf"\b(?:{pattern})\b", re.VERBOSE) for kind, pattern in _ASKS.items()}
_CONJUNCTIONS = ("when", "cuando", "quando")
_OTHER_QUESTION = re.compile(r"\b(?:what|which|how|why|where|que|cual(?:es)?|como|donde|por\ ?que|onde|qual|quais)\b")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<!\n)\b[^\W\d_]\w+")
_NUMERAL = re.compile(r"\d|^[ivxlc]{2,}$")
_DATE = re.compile(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b|\b\d{1,2}[:/.h]\d{2}|\b\d{1,2}[/-]\d{1,2}")


class Kind(str, Enum):
    """What a question asks for, where its wording tells."""

    DATE = "date"
    NUMBER = "number"
    PERSON = "person"


def asked_for(question: str) -> Kind | None:
    """The kind of thing asked for in English, Spanish or Portuguese; None where it isn't one of these.

    "When" after another question word names a condition ("What should I do when the light is red?").
    """
    text = fold(question.lower())
    found = [(match.start(), kind, match[0]) for kind in Kind if (match := _PATTERNS[kind.value].search(text))]
    if not found:
        return None
    start, kind, asking = min(found)
    return None if asking in _CONJUNCTIONS and _OTHER_QUESTION.search(text, 0, start) else kind


def offers(sentence: Sentence, kind: Kind, question: str) -> bool:
    """Whether the sentence has something of the kind that the question doesn't already name.

    A chat message is itself of a person and a time.
    """
    if sentence.message is not None and kind is not Kind.NUMBER:
        return True
    asked = set(words(question))
    if kind is Kind.PERSON:
        names = (match[0] for match in _NAME.finditer(sentence.text))
        return any(name[0].isupper() and name.lower() not in asked for name in names)
    fresh = [fold(word) for word in words(sentence.text) if word not in asked]
    if kind is Kind.NUMBER:
        return any(word in NUMBER_WORDS or _NUMERAL.search(word) for word in fresh)
    return any(word in DATE_WORDS for word in fresh) or any(
        match[0].lower() not in asked for match in _DATE.finditer(sentence.text)
    )
