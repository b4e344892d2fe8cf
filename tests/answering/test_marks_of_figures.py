"""Test the marks of sentences that say figures in other words: times, units, sums, rows of tables and denials."""

from __future__ import annotations

import pytest

from answerable.answering.checking.evidence import look_up
from answerable.answering.checking.marks import Mark, mark
from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, PartKind, RetrievalResult

HIRE = "item;days;price_eur;until\nKayak;1;27,50;2026-09-30\nCanoe;1;34,00;2026-10-31\n"
ROOMS = "sala,aforo,hora_eur,minimo_min\nSala azul,40,18.50,90\nSala verde,25,14.00,60\n"
BIKES = (
    "| Model | Weight (kg) | Price (€) |\n|---|---|---|\n| Trail 3 | 11.8 | 1,249.00 |\n| City 1 | 14.2 | 899.00 |\n"
)
SOURCES = {
    "ferry": ("en", "The Arran ferry runs on Tuesdays, Thursdays and Saturdays from 09:15 to 18:45 (55 minutes)."),
    "pool": ("en", "The pool is open from 7:00 to 21:30; children under 12 must be with an adult."),
    "bread": ("en", "The starter rests for 36 hours and weighs 1.2 kg."),
    "loan": ("en", "Tools are lent for 14 days; each further day costs 75 cents."),
    "vote": ("en", "The motion on the new gate was rejected by 23 votes to 9."),
    "bees": ("en", "Smoking is forbidden near the hives; the smoker may be lit only by members."),
    "tent": ("en", "The tent sleeps six and weighs 8.4 kg; it isn't waterproof."),
    "grant": ("en", "The grant of £24,000 is paid in four instalments."),
    "spent": ("en", "So far £9,750 has been spent."),
    "pump": ("en", "The pump delivers 180 l/min at 2.5 bar."),
    "course": ("en", "The workshop is on Saturday 14 March 2026 from 10:00 to 16:00."),
    "taller": ("es", "El taller dura dos horas y media y empieza a las 18:15."),
    "socio": ("es", "La cuota anual es de 96 euros y se paga en dos plazos; los menores de 14 años no pagan."),
    "riego": ("es", "Se riega los lunes, miércoles y viernes de 6:00 a 7:30."),
    "obra": ("es", "La licencia de obra fue denegada el 3 de febrero de 2025."),
    "horta": ("pt", "A horta abre das 8:00 às 20:00 e fecha à segunda-feira; é proibido usar pesticidas."),
    "curso": ("pt", "O curso tem 24 horas, divididas em 8 sessões, e custa 180 euros."),
    "agua": ("pt", "O depósito leva 1.500 litros e enche em 45 minutos."),
    "race": ("en", "Of the 240 who started, 213 finished; Hana Sato of Kobe took 2 hours and 31 minutes."),
    "bono": ("es", "El bono de diez entradas cuesta 42 euros y cierra los lunes."),
    "linha": ("pt", "A linha 3 parte às 6:40 e o bilhete custa 3,20 euros; não se aceitam cartões."),
    "kayak": ("en", "Kayak;1;27,50;2026-09-30"),
    "canoe": ("en", "Canoe;1;34,00;2026-10-31"),
    "azul": ("es", "Sala azul,40,18.50,90"),
    "trail": ("en", "| Trail 3 | 11.8 | 1,249.00 |"),
    "city": ("en", "| City 1 | 14.2 | 899.00 |"),
}  # fmt: skip
TABLES = {"kayak": HIRE, "canoe": HIRE, "azul": ROOMS, "trail": BIKES, "city": BIKES}

TRUE = [
    ("paraphrase", "Only members may light the smoker.", "en", "bees"),
    ("paraphrase", "Nobody may smoke near the hives.", "en", "bees"),
    ("paraphrase", "The tent is not waterproof and has room for six.", "en", "tent"),
    ("paraphrase", "Los niños menores de 14 años no tienen que pagar la cuota.", "es", "socio"),
    ("paraphrase", "O curso divide-se em oito sessões e dura 24 horas ao todo.", "pt", "curso"),
    ("number words", "The pump delivers a hundred and eighty litres a minute.", "en", "pump"),
    ("number words", "La cuota anual asciende a noventa y seis euros.", "es", "socio"),
    ("number words", "Cabem mil e quinhentos litros no depósito.", "pt", "agua"),
    ("number words", "Twenty-three voted against the new gate and nine for it.", "en", "vote"),
    ("time words", "The ferry sails three days a week, from a quarter past nine to a quarter to seven.", "en", "ferry"),
    ("time words", "The pool opens at seven in the morning and closes at half past nine at night.", "en", "pool"),
    ("time words", "El taller empieza a las seis y cuarto de la tarde y dura 150 minutos.", "es", "taller"),
    ("time words", "A horta está aberta das oito da manhã às oito da noite.", "pt", "horta"),
    ("time words", "Se riega tres días a la semana, de seis a siete y media de la mañana.", "es", "riego"),
    ("time words", "The workshop goes on from ten until four.", "en", "course"),
    ("month", "The kayak can be hired until the end of September 2026.", "en", "kayak"),
    ("month", "La licencia se denegó en febrero de 2025.", "es", "obra"),
    ("month", "Canoes are for hire until 31 October 2026.", "en", "canoe"),
    ("arithmetic", "A canoe costs €6.50 more than a kayak.", "en", "kayak canoe"),
    ("arithmetic", "A canoe and a kayak together cost 61.50 euros.", "en", "kayak canoe"),
    ("arithmetic", "Each instalment of the grant is £6,000.", "en", "grant"),
    ("arithmetic", "£14,250 of the grant is left.", "en", "grant spent"),
    ("arithmetic", "Three kayaks cost €82.50.", "en", "kayak"),
    ("arithmetic", "The Trail 3 is 2.4 kg lighter than the City 1.", "en", "trail city"),
    ("arithmetic", "Cada plazo de la cuota es de 48 euros.", "es", "socio"),
    ("arithmetic", "Cada sessão dura três horas.", "pt", "curso"),
    ("arithmetic", "The motion failed by a margin of 14 votes, 23 − 9.", "en", "vote"),
    ("arithmetic", "Dos horas de la sala azul cuestan 37 euros.", "es", "azul"),
    ("other language", "Pesticides must not be used in the garden.", "en", "horta"),
    ("other language", "Las herramientas se prestan por dos semanas.", "es", "loan"),
    ("other language", "A massa-mãe repousa um dia e meio.", "pt", "bread"),
    ("other language", "The building permit was refused on 3 February 2025.", "en", "obra"),
    ("other language", "La subvención de 24.000 libras se paga en cuatro plazos.", "es", "grant"),
    ("other language", "The tank fills in three quarters of an hour.", "en", "agua"),
    ("table", "La sala azul tiene aforo para cuarenta personas y el mínimo es de hora y media.", "es", "azul"),
    ("table", "The Trail 3 weighs 11.8 kilograms and costs 1249 euros.", "en", "trail"),
    ("table", "A kayak costs 27.50 euros a day.", "en", "kayak"),
    ("table", "The City 1 costs just under 900 euros.", "en", "city"),
    ("table", "La hora en la sala azul cuesta 18,50 euros.", "es", "azul"),
    ("negation", "The motion on the new gate was not accepted.", "en", "vote"),
    ("negation", "Pesticidas não são permitidos na horta.", "pt", "horta"),
    ("negation", "La licencia de obra no se concedió.", "es", "obra"),
    ("negation", "Children under 12 may not enter the pool alone.", "en", "pool"),
    ("time words", "A linha 3 parte às seis e quarenta.", "pt", "linha"),
    ("time words", "The pool opens at seven o'clock.", "en", "pool"),
    ("unit", "Hana Sato ran for 151 minutes, just over two and a half hours.", "en", "race"),
    ("unit", "O bilhete custa três euros e vinte.", "pt", "linha"),
    ("arithmetic", "27 runners did not finish.", "en", "race"),
    ("arithmetic", "Con el bono, cada entrada sale a 4,20 euros.", "es", "bono"),
    ("negation", "Los lunes el bono no abre.", "es", "bono"),
    ("unit", "Another day costs €0.75.", "en", "loan"),
]
FALSE = [
    ("digit", "The ferry takes 65 minutes.", "en", "ferry"),
    ("digit", "La cuota anual es de 69 euros.", "es", "socio"),
    ("digit", "A canoe costs €43.00.", "en", "canoe"),
    ("digit", "The grant is £42,000.", "en", "grant"),
    ("unit", "The pump delivers 180 l/min at 2.5 psi.", "en", "pump"),
    ("unit", "The starter rests for 36 minutes.", "en", "bread"),
    ("unit", "O depósito leva 1.500 metros.", "pt", "agua"),
    ("unit", "Tools are lent for 14 weeks.", "en", "loan"),
    ("time", "The pool closes at half past eight at night.", "en", "pool"),
    ("time", "The ferry sails four days a week.", "en", "ferry"),
    ("time", "El taller dura tres horas y media.", "es", "taller"),
    ("time", "A horta fecha às nove da noite.", "pt", "horta"),
    ("time", "The ferry runs from 9:15 in the evening.", "en", "ferry"),
    ("month", "The kayak can be hired until the end of August 2026.", "en", "kayak"),
    ("month", "La licencia se denegó en enero de 2025.", "es", "obra"),
    ("row", "A kayak costs 34 euros.", "en", "kayak"),
    ("row", "The Trail 3 costs 899 euros.", "en", "trail"),
    ("arithmetic", "A canoe costs €7.50 more than a kayak.", "en", "kayak canoe"),
    ("arithmetic", "A canoe and a kayak together cost 62.50 euros.", "en", "kayak canoe"),
    ("arithmetic", "£15,250 of the grant is left.", "en", "grant spent"),
    ("arithmetic", "Each instalment of the grant is £8,000.", "en", "grant"),
    ("arithmetic", "Three kayaks cost €85.50.", "en", "kayak"),
    ("arithmetic", "Cada sessão dura quatro horas.", "pt", "curso"),
    ("arithmetic", "The tent sleeps six and weighs 14.4 kg.", "en", "tent"),
    ("name", "Hana Ito took 2 hours and 31 minutes.", "en", "race"),
    ("arithmetic", "37 runners did not finish.", "en", "race"),
    ("unit", "Hana Sato ran for 152 minutes.", "en", "race"),
    ("name", "The ferry to Mull takes 55 minutes.", "en", "ferry"),
    ("rounding", "The City 1 costs just under 800 euros.", "en", "city"),
]


def marked(sentence: str, language: str, names: str) -> tuple[Mark, str]:
    found = []
    for name in names.split():
        spoken, text = SOURCES[name]
        content = TABLES.get(name, text)
        kind = DocumentType.RECORDS if content in (HIRE, ROOMS) else DocumentType.MARKDOWN
        facts = {"columns": content.partition("\n")[0]} if kind is DocumentType.RECORDS else {}
        document = Document.from_text(content, title="Club", language=spoken, type=kind, **facts)
        start, end = content.index(text), content.index(text) + len(text)
        parts = (Part(start, end, PartKind.RECORD),) if kind is DocumentType.RECORDS else ()
        chunk = Chunk("c", document.id, text, start, end, 0, Location(None), parts=parts)
        found.append(look_up(text, [RetrievalResult(chunk, 1.0, document)], {}))
    made = mark(sentence, [each for each in found if each is not None], language)
    return made.mark, made.how


@pytest.mark.parametrize(("kind", "sentence", "language", "names"), TRUE)
def test_what_follows_from_the_evidence_is_verified(kind: str, sentence: str, language: str, names: str) -> None:
    assert marked(sentence, language, names)[0] is Mark.VERIFIED, kind


@pytest.mark.parametrize(("kind", "sentence", "language", "names"), FALSE)
def test_what_does_not_follow_from_the_evidence_is_to_be_checked(
    kind: str, sentence: str, language: str, names: str
) -> None:
    assert marked(sentence, language, names)[0] is Mark.CHECK, kind
