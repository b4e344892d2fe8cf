"""Single messages found again in a long chat: 200,000 messages in Spanish, 60 facts, one question each.

A quarter of the questions each name sender and time, the sender only, the time only, neither. A passage counts if it
holds the whole message; a citation, if it quotes from it. `--messages 200000 --language es --library FOLDER`: the chat
is added unless the library there has it already, which takes the better part of an hour. `pt` and `en` have 20 facts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import generated_chats as chats
import platformdirs
from measuring import cpu_seconds, peak_megabytes, show

import answerable
from answerable.datatypes import Narrowing, Part
from answerable.indexing.ingest import Progress

TOP = 10
GOAL = 3
FORMS = ("sender and time", "sender", "time", "neither")

# A fact, then its question; every four in the order of `FORMS`. `{sender}` and `{month}` or `{day}` are those of the
# message: who is named is who wrote it, not whom it is about. What a fact is about is said nowhere else in the chat.
_SPANISH = """
He reservado el hotel Puerta Violeta de Cádiz, 94 euros la noche con desayuno
¿Qué hotel reservó {sender} en {month}?
Las manchas de vino salen con bicarbonato y agua con gas, frotando poco
¿Qué recomendó {sender} para las manchas de vino?
La luz se va a cortar de nueve a una porque cambian el transformador
¿Qué se dijo en {month} sobre el corte de luz?
Las gafas progresivas de la óptica Lince salen por 189 con la segunda montura gratis
¿Cuánto cuestan las gafas progresivas de la óptica?
El fontanero bueno es Evaristo, su móvil acaba en 7731 y cobra 35 por la visita
¿Qué fontanero recomendó {sender} en {month}?
El código del portón nuevo es 5083 y después almohadilla
¿Qué código del portón mandó {sender}?
El concierto del auditorio se pasa a la sala pequeña, estamos en la fila 6
¿Qué se dijo el {day} sobre el concierto del auditorio?
El número de la mutua para urgencias es el 900 443 018
¿Cuál es el teléfono de urgencias de la mutua?
Al final pagué 1.280 euros por la caldera nueva, instalación incluida
¿Cuánto pagó {sender} en {month} por la caldera?
Mi número de botas de esquí es el 26,5, las de pie ancho
¿Qué número de botas de esquí dijo {sender} que usa?
Han encontrado un nido de vencejos en la persiana y no se puede tocar
¿Qué se contó en {month} sobre los vencejos?
Los azulejos que faltan son del modelo Tánger, en cajas de un metro cuadrado
¿De qué modelo son los azulejos que faltan?
Propongo que la ruta sea por el barranco de la Hoz, son 11 kilómetros y hay sombra
¿Qué ruta propuso {sender} en {month}?
El vuelo a Oporto sale de la puerta C38 y no quedan asientos juntos
¿De qué puerta sale el vuelo a Oporto según {sender}?
La natación municipal abre con aforo de 120 y turno por internet
¿Qué se supo el {day} de la natación municipal?
La vacuna del tétanos hay que repetirla a los diez años
¿Cada cuánto se repite la vacuna del tétanos?
El dermatólogo me ha mandado una crema de urea al 20 % para los codos
¿Qué contó {sender} en {month} sobre el dermatólogo?
Me han confirmado la alergia a los anacardos y a nada más
¿A qué dijo {sender} que tiene alergia?
El presupuesto de la reforma queda en 6.340 con plato de ducha y mampara
¿Cuánto costaba, según se dijo en {month}, la reforma?
Aparcad en la explanada del cementerio, no cobran y se llega andando al tren en cinco minutos
¿Dónde se puede aparcar gratis cerca del tren?
Para entrar en el wifi del local la clave es Girasol-4482
¿Qué escribió {sender} en {month} sobre la clave del wifi?
El gazpachuelo lleva mayonesa, rape y dos patatas, nunca nata
¿Qué lleva el gazpachuelo según {sender}?
La línea 54 ya no para delante del ambulatorio hasta que acaben la zanja
¿Qué se avisó el {day} sobre la línea 54?
El usuario de la plataforma de cursos es quinto.b y la contraseña Nutria_73
¿Cuál es la contraseña de la plataforma de cursos?
La matrícula del conservatorio se cierra el día 17 y piden dos copias del título
¿Qué dijo {sender} en {month} sobre la matrícula del conservatorio?
Escondí las del trastero dentro de la tetera de cobre
¿Dónde escondió {sender} las llaves del trastero?
La profesora de yoga se muda a Vigo y la sustituye una tal Maider
¿Qué se dijo en {month} sobre la profesora de yoga?
La cena de antiguos alumnos es en el asador Tximista, cubierto a 42
¿En qué asador es la cena de antiguos alumnos?
El galgo de la protectora se llama Trufa, tiene seis años y le faltan dos dientes
¿Qué contó {sender} en {month} del galgo de la protectora?
Lloré a mares con El relojero de Lisboa, sobre todo al final
¿Con qué película dijo {sender} que lloró?
Se ha votado la fachada y gana el ocre por dos votos
¿Qué color ganó el {day} para la fachada?
Para tapizar el sillón necesitamos tres metros y medio de pana verde
¿Cuánta tela hace falta para tapizar el sillón?
Nos casamos en la ermita de San Frutos y luego comemos en un molino
¿Dónde se casa {sender}, según dijo en {month}?
En Teruel el alquiler obliga a avisar con cuarenta días si te marchas
¿Qué contó {sender} sobre el alquiler de Teruel?
El campamento de los críos cuesta 275 con la litera y el seguro
¿Cuánto se dijo en {month} que costaba el campamento?
La mermelada de higos espesa con una manzana rallada, nada de gelatina
¿Con qué espesa la mermelada de higos?
Vendo la piragua por 140, con los dos remos y el chaleco
¿Por cuánto vendía {sender} la piragua en {month}?
Me ofrecen un puesto en el acuario, turno nocturno y 1.900 limpios
¿Qué puesto contó {sender} que le ofrecen?
Se ha muerto la tortuga, la enterramos bajo el limonero
¿Qué pasó el {day} con la tortuga?
El mecánico calcula que el embrague aguanta otros ocho mil kilómetros
¿Cuánto aguantará el embrague?
El notario nos da hora a las diez y cuarto, hay que llevar la escritura
¿Qué avisó {sender} en {month} sobre el notario?
Deberíamos llamarlo Bartolo, que el gatito tiene cara de señor mayor
¿Qué nombre propuso {sender} para el gatito?
La excursión a las salinas se suspende por viento, devuelven los 18 euros
¿Qué se dijo en {month} sobre la excursión a las salinas?
La tía Remedios nació en Melilla y vino en barco con tres años
¿Dónde nació la tía Remedios?
Mi peluquero nuevo está en la calle Alfareros, 9, y no cobra a los jubilados
¿Qué peluquero recomendó {sender} en {month}?
La furgoneta que me dio el golpe era la 4417 KLM, blanca
¿Qué matrícula apuntó {sender} de la furgoneta que le dio el golpe?
El técnico dice que al lavaplatos le faltan escobillas nuevas, 47 euros
¿Qué se escribió el {day} sobre el técnico del lavaplatos?
En el club de lectura toca La casa de los membrillos
¿Qué libro toca en el club de lectura?
He aprobado el examen de alemán con un 8,7, el oral fue lo peor
¿Qué nota sacó {sender} en {month} en alemán?
La ortodoncia me dura catorce meses y la financian sin intereses
¿Cuánto dijo {sender} que dura su ortodoncia?
El menú del bautizo será cardo con almendras y lubina
¿Qué menú se propuso en {month} para el bautizo?
El museo ferroviario no cobra a los menores de doce
¿Quién entra gratis en el museo ferroviario?
Encargué la de pistacho en el obrador La Espiga, para veinte raciones
¿Qué encargó {sender} en {month} en el obrador?
Contra los pulgones echad jabón potásico al atardecer
¿Qué aconsejó {sender} contra los pulgones?
Ha salido plaza en la guardería Los Erizos, grupo de las mariposas
¿En qué guardería salió plaza el {day}?
El filtro de la aspiradora se saca girándolo hacia la izquierda
¿Cómo se saca el filtro de la aspiradora?
El seguro del velero nos sube a 612 al año si incluimos el remolque
¿Qué dijo {sender} en {month} sobre el seguro del velero?
Doné el piano a la parroquia de Santa Águeda, lo recogieron cuatro chavales
¿A quién donó {sender} el piano?
La quiniela la ha ganado el cuñado de Rosa con doce aciertos
¿Quién ganó la quiniela en {month}?
El candado de la verja del huerto se abre con 2-9-4-1
¿Con qué combinación se abre el candado del huerto?
"""

_PORTUGUESE = """
Reservei a pousada Mar de Dentro em Paraty, 310 a diária com café
Qual pousada {sender} reservou em {month}?
Mancha de vinho sai com bicarbonato e água com gás, sem esfregar muito
O que {sender} recomendou para mancha de vinho?
Vão cortar a luz das nove ao meio-dia para trocar o transformador
O que se disse em {month} sobre o corte de luz?
O telefone do plantão do veterinário é 3344-9017
Qual é o telefone do plantão do veterinário?
O encanador bom é o Evaristo, mora no bloco C e cobra 80 a visita
Que encanador {sender} indicou em {month}?
A senha do portão novo é 5083 e depois jogo da velha
Que senha do portão {sender} mandou?
O show do Teatro Castro Alves passou pra sala menor, a gente fica na fila F
O que se disse em {day} sobre o show do teatro?
Os azulejos que faltam são do modelo Tânger, caixa de um metro quadrado
De que modelo são os azulejos que faltam?
No fim paguei 1.280 no aquecedor a gás, com instalação
Quanto {sender} pagou em {month} pelo aquecedor?
O voo pra Lisboa sai do portão C38 e não tem mais assento junto
De que portão sai o voo pra Lisboa, segundo {sender}?
Acharam um ninho de corujas na calha e não pode mexer
O que se contou em {month} sobre as corujas?
A vacina da febre amarela da Bia foi no posto da rua Ipê
Onde a Bia tomou a vacina da febre amarela?
Proponho a trilha da Pedra do Sino, onze quilômetros e muita sombra
Que trilha {sender} propôs em {month}?
Confirmaram minha alergia a castanha de caju e mais nada
A que {sender} disse que tem alergia?
A natação da prefeitura abre com 120 vagas e inscrição pela internet
O que se soube em {day} sobre a natação da prefeitura?
A geleia de figo engrossa com maçã ralada, nada de gelatina
Com que engrossa a geleia de figo?
O dermatologista receitou um creme de ureia a 20% pros cotovelos
O que {sender} contou em {month} sobre o dermatologista?
Escondi a chave do depósito dentro do bule de cobre
Onde {sender} escondeu a chave do depósito?
A reforma do muro ficou em 6.340 com pedra e cimento
Quanto custava, segundo se disse em {month}, a reforma do muro?
O cadeado da horta abre com 2-9-4-1
Com que combinação abre o cadeado da horta?
"""

_ENGLISH = """
I've booked the Violet Gate guesthouse in Whitby, 94 a night with breakfast
Which guesthouse did {sender} book in {month}?
Red wine stains come out with baking soda and sparkling water, hardly any rubbing
What did {sender} recommend for red wine stains?
The power will be off from nine to one while they swap the transformer
What was said in {month} about the power being off?
The out-of-hours vet's number is 01632 960443
What is the number of the out-of-hours vet?
The roofer to get is Evan Pritchard, he charges 35 for the visit
Which roofer did {sender} recommend in {month}?
The code for the new gate is 5083 and then hash
What gate code did {sender} send?
The recital at the town hall has been moved to the small room, we're in row 6
What was said on {day} about the recital?
The missing tiles are the Tangier pattern, boxes of one square metre
Which pattern are the missing tiles?
In the end I paid 1,280 for the boiler, fitting included
How much did {sender} pay for the boiler in {month}?
The flight to Porto leaves from gate C38 and there are no seats together
Which gate does the flight to Porto leave from, according to {sender}?
They found swifts nesting in the shutter and nobody may touch it
What was said about the swifts in {month}?
A tetanus jab has to be repeated every ten years
How often does a tetanus jab have to be repeated?
I suggest the hike through Hollow Gorge, seven miles and plenty of shade
Which hike did {sender} suggest in {month}?
They confirmed my allergy to cashews and nothing else
What did {sender} say about an allergy?
Council swimming reopens with 120 slots, sign up online
What did we learn on {day} about council swimming?
Fig jam thickens with a grated quince, no gelatine
What thickens fig jam?
The dermatologist gave me a 20% urea cream for my elbows
What did {sender} say in {month} about the dermatologist?
I hid the cellar key inside the copper teapot
Where did {sender} hide the cellar key?
The loft conversion comes to 6,340 with the skylight
How much was the loft conversion, as said in {month}?
The padlock on the allotment opens with 2-9-4-1
What combination opens the padlock on the allotment?
"""

_MONTHS = {
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(),
    "en": "January February March April May June July August September October November December".split(),
}


@dataclass(frozen=True, slots=True)
class Language:
    """A phone that exports the chat, the name of the export, facts with questions, and how people are asked after.

    `month` and `day` say how a time is named. `called` are the senders' names as a question has them.
    """

    locale: chats.Locale
    export: str
    facts: str
    month: str
    day: str
    called: tuple[str, ...]


LANGUAGES = {
    "es": Language(
        chats.SPAIN,
        "Chat de WhatsApp con Los del quinto.txt",
        _SPANISH,
        "{month} de {year}",
        "{day} de {month} de {year}",
        ("Ana", "Javi", "Lucía", "la abuela Carmen", "Miguel Ángel", "Nuria", "Pablo", "Raquel"),
    ),
    "pt": Language(
        chats.BRAZIL,
        "Conversa do WhatsApp com Família Lima.txt",
        _PORTUGUESE,
        "{month} de {year}",
        "{day} de {month} de {year}",
        ("Thaís", "Bruno", "a Dona Neide", "Rafael", "Camila", "Juninho"),
    ),
    "en": Language(
        chats.UK,
        "WhatsApp Chat with Number 12.txt",
        _ENGLISH,
        "{month} {year}",
        "{day} {month} {year}",
        tuple("Oliver|Amelia|Nan|George|Priya|Callum|Isla|Freddie|Poppy|Rhys|Dr Bennett|Zara".split("|")),
    ),
}


@dataclass(frozen=True, slots=True)
class Needle:
    """A planted message and the question after it; `form` is one of `FORMS`."""

    planted: chats.Planted
    question: str
    form: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question: `rank` and `cited` are places from 1, 0 for not found.

    `narrowed`: whether what the question names became a filter, and nothing else did; `applied`: and it held.
    """

    needle: Needle
    rank: int
    cited: int
    narrowed: bool
    applied: bool
    problem: str


def needles_of(code: str) -> list[Needle]:
    """The facts of a language, spread evenly over the chat's months and senders."""
    language = LANGUAGES[code]
    lines = language.facts.strip().splitlines()
    count = len(lines) // 2
    found = []
    for number, (text, question) in enumerate(zip(lines[::2], lines[1::2], strict=True)):
        who = (3 * number + number // 4) % len(language.called)
        day = chats.month_of(number, count)
        asked = question.format(
            sender=language.called[who], month=_named(language.month, day, code), day=_named(language.day, day, code)
        )
        names_time = "{month}" in question or "{day}" in question
        form = FORMS[(0 if names_time else 1) if "{sender}" in question else (2 if names_time else 3)]
        found.append(Needle(chats.Planted(text, language.locale.senders[who], day), asked, form))
    return found


def _named(pattern: str, day: date, code: str) -> str:
    return pattern.format(day=day.day, month=_MONTHS[code][day.month - 1], year=day.year)


def add_chat(library: answerable.Library, folder: Path, code: str, messages: int) -> list[tuple[str, float, str]]:
    """Writes the chat beside the library's folder and adds it; what that cost, as rows of the table."""
    export = folder.with_name(f"{folder.name}-export") / LANGUAGES[code].export
    export.parent.mkdir(parents=True, exist_ok=True)
    planted = [needle.planted for needle in needles_of(code)]
    chats.write_chat(export, LANGUAGES[code].locale, messages, planted=planted)
    started, cpu = time.perf_counter(), cpu_seconds()
    library.add(export, on_progress=_say)
    return [
        ("adding", time.perf_counter() - started, "s"),
        ("adding, CPU", cpu_seconds() - cpu, "CPU s"),
        ("adding, most memory", peak_megabytes(), "MB"),
    ]


def _say(progress: Progress) -> None:
    if progress.document_done % 500 == 0 and progress.document_total:
        print(f"{progress.document_done} of {progress.document_total} chunks", flush=True)


def ask(library: answerable.Library, needle: Needle, message: Part) -> Outcome:
    """Searches for the message and asks the question; tells what came instead, where it wasn't found."""
    results = library.search(needle.question, TOP)
    answer = library.ask(needle.question)
    start, end = message.body or message.start, message.end
    rank = _first(result.chunk.start <= start and end <= result.chunk.end for result in results)
    cited = _first(citation.start < end and start < citation.end for citation in answer.citations)
    narrowing = answer.narrowing
    narrowed = _fits(narrowing, needle, message)
    applied = narrowed and (narrowing is None or narrowing.applied)
    dropped = " (dropped)" if narrowing and not narrowing.applied else ""
    problems = [f"rank {rank}, cited {cited} of {len(answer.citations)}; filter: {narrowing or 'none'}{dropped}"]
    if not 1 <= rank <= GOAL and results:
        chunk = results[0].chunk
        problems.append(f"first passage {chunk.location}: {chunk.content[:80]!r}")
    if not cited:
        problems.append(f"{answer.reason}, cited {[citation.quote for citation in answer.citations][:3]}")
    return Outcome(needle, rank, cited, narrowed, applied, "; ".join(problems))


def _fits(narrowing: Narrowing | None, needle: Needle, message: Part) -> bool:
    """Whether there is a filter by sender and by time where the question names them, one that the message passes."""
    senders, periods = (narrowing.senders, narrowing.periods) if narrowing else ((), ())
    by_sender = tuple(senders) == (message.sender,) if "sender" in needle.form else not senders
    if "time" not in needle.form:
        return by_sender and not periods
    return by_sender and any(message.time and first <= message.time < last for first, last in periods)


def messages_of(document: answerable.Document, needles: Sequence[Needle]) -> list[Part]:
    """The needles' messages in the chat. Exits where it is another chat than the one that is generated now."""
    parts = {document.content[part.body or part.start : part.end]: part for part in document.parts}
    found = []
    for needle in needles:
        part, planted = parts.get(needle.planted.text), needle.planted
        if part is None or part.time is None or (part.sender, part.time.date()) != (planted.sender, planted.day):
            sys.exit(f"The library's chat is another one (no {planted}): name a folder that isn't there yet")
        found.append(part)
    return found


def _first(hits: Iterable[bool]) -> int:
    """The place of the first hit, from 1; 0 if there is none."""
    return next((place for place, hit in enumerate(hits, 1) if hit), 0)


def rows_of(name: str, outcomes: list[Outcome]) -> list[tuple[str, float, str]]:
    """The shares for the table."""
    shares = {
        f"found, rank <= {GOAL}": [1 <= one.rank <= GOAL for one in outcomes],
        f"found, rank <= {TOP}": [one.rank > 0 for one in outcomes],
        "cited": [one.cited > 0 for one in outcomes],
        "cited first": [one.cited == 1 for one in outcomes],
        "filter as named": [one.narrowed for one in outcomes],
        "filter held": [one.applied for one in outcomes],
    }
    return [(f"{name}: {what}", sum(hits) / len(hits), "of questions") for what, hits in shares.items()]


def main() -> None:
    """Adds the chat where it isn't yet, asks, tells by form of question, lists what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--language", choices=LANGUAGES, default="es")
    parser.add_argument("--library", type=Path)
    options = parser.parse_args()
    named = f"needles-{options.language}-{options.messages}"
    folder = options.library or platformdirs.user_cache_path("answerable-benchmarks") / named
    folder.parent.mkdir(parents=True, exist_ok=True)
    with answerable.open(folder) as library:
        rows = [] if library.documents() else add_chat(library, folder, options.language, options.messages)
        document = library.document(library.documents()[0].id)
        needles = needles_of(options.language)
        found = messages_of(document, needles)
        started = cpu_seconds()
        outcomes = [ask(library, needle, message) for needle, message in zip(needles, found, strict=True)]
        rows.append(("search and ask, mean", 1000 * (cpu_seconds() - started) / len(outcomes), "CPU ms"))
        chunks = library.stats().chunks
    rows += rows_of("all", outcomes)
    for form in FORMS:
        rows += rows_of(form, [outcome for outcome in outcomes if outcome.needle.form == form])
    for one in outcomes:
        if not (1 <= one.rank <= GOAL and one.cited and one.applied):
            print(f"{one.needle.question}\n  {one.problem}")
    messages = document.metadata["messages"]
    show("needles", rows, language=options.language, messages=messages, chunks=chunks, questions=len(outcomes))


if __name__ == "__main__":
    main()
