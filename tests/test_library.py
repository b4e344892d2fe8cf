"""Test `Library` as the interfaces call it, with real file readers, splitters, stores and the real embedder."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from helpers import READER, HashEmbedder

import answerable
from answerable import Document, DocumentType, Library, Reason
from answerable.datatypes import Narrowing
from answerable.embedding.cache import CachedEmbedder
from answerable.errors import (
    DocumentNotFound,
    EmbedderMismatch,
    EmptySource,
    FilterError,
    LibraryNotFound,
    SettingsError,
    SourceError,
)
from answerable.indexing.ingest import Progress
from answerable.protocols import Embedder, Fingerprint
from answerable.settings import Settings
from answerable.sources import read_chat
from answerable.wiring.build import build_answerer, build_splitter, build_store

EXAMPLES = Path(__file__).parents[1] / "examples"
CHAT = EXAMPLES / "Chat de WhatsApp con Viaje a Oaxaca.txt"
GUIDE = EXAMPLES / "espresso-machine-guide.md"
QUESTIONS = """\
¿Cuál es el código de la reserva?
¿Quién es alérgica al cacahuate?
¿A qué hora sale el autobús de regreso?
¿Cuánto cuesta el boleto de autobús por persona?
¿Qué hay que llevar a Hierve el Agua?
¿En qué hotel nos quedamos?
¿Cuándo es el mercado de Tlacolula?
¿Quién lleva la cámara?
¿Dónde vamos a cenar el viernes?
How long does the warranty last?
What do I do when the ring of light blinks red?
How often should I descale the machine?
Can I use vinegar?
How much coffee for a double basket?
May the portafilter go in the dishwasher?
How many tools may I borrow at once?
What is the fine for a late return?
Who can become a member?
Quanto sol o manjericão precisa?
Como fazer a mistura de terra?
Como eliminar os pulgões?
Quando a alface fica pronta?
Com que frequência devo regar no inverno?
Who won the football world cup in 1998?
¿Cuál es la capital de Mongolia?
Qual é a velocidade da luz?
""".splitlines()


def make_library(address: str | Path, embedder: Embedder, **settings: Any) -> Library:
    """A library as `answerable.open` makes it, with an embedder of the test's choice."""
    chosen = Settings(**settings)
    return Library(
        store=build_store(str(address)),
        embedder=embedder,
        splitter=build_splitter(chosen),
        reader=READER,
        answerer=build_answerer(chosen, embedder.fingerprint),
    )


@pytest.fixture(params=["memory", "folder"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    """An empty library with the tiny embedder, of each kind that comes with the package."""
    with make_library(":memory:" if request.param == "memory" else tmp_path / "library", HashEmbedder()) as library:
        yield library


@pytest.fixture(scope="module")
def examples(embedder: CachedEmbedder) -> Iterator[Library]:
    """The four sample documents with the real embedder, to be read only."""
    with make_library(":memory:", embedder) as library:
        report = library.add(EXAMPLES)
        assert (report.added, report.failures) == (4, [])
        yield library


@pytest.fixture(scope="module")
def chats(embedder: CachedEmbedder) -> Iterator[Library]:
    """The sample chat, two years of another one and a guide, asked on 22 November 2024."""
    other = "\n".join(
        f"{day}, 10:0{minute} - {sender}: {text}"
        for day, talk in {
            "05/03/2023": [("Ana", "Vi un piso en la calle Mayor por 900 euros"), ("Ben", "El piso es muy caro")],
            "07/06/2023": [("Ben", "La clave del wifi nuevo es sol-77"), ("Ana", "Apuntada")],
            "21/11/2024": [("Ben", "Mañana llamo al fontanero"), ("Ana", "Mejor a las ocho")],
        }.items()
        for minute, (sender, text) in enumerate(talk)
    )
    with make_library(":memory:", embedder) as library:
        library.now = lambda: datetime(2024, 11, 22, 9, 30)
        library.add_documents([read_chat(other, "Casa.txt"), *(answerable.read(CHAT)), *(answerable.read(GUIDE))])
        yield library


def texts(library: Library) -> set[str]:
    return {library.document(stored.id).content for stored in library.documents()}


def state(library: Library) -> list[Any]:
    """All that is stored, with the numbers that the store gave."""
    count = library._store.count()
    fetched = library._store.fetch(range(1, 10 * count[1] + 10))
    numbers = [(number, indexed.chunk, indexed.vector.tobytes()) for number, (indexed, _) in sorted(fetched.items())]
    return [count, library.documents(), numbers]


# Questions that name a person or a time


@pytest.mark.parametrize(
    ("question", "senders", "periods", "quote"),
    [
        ("¿Qué dijo Ben sobre el piso?", ("Ben",), 0, "El piso es muy caro"),
        ("¿Qué dijo Ana sobre el piso en marzo de 2023?", ("Ana",), 1, "Vi un piso en la calle Mayor por 900 euros"),
        ("¿Qué dijo Julián sobre el código de la reserva?", ("Julián",), 0, "El código de la reserva es GLD-4471"),
        ("O que o Ben disse ontem?", ("Ben",), 1, "Mañana llamo al fontanero"),
        ("¿Qué dijo Ana Lucía del cacahuate en marzo de 2024?", ("Ana Lucía",), 1, "alérgica al cacahuate"),
    ],
)
def test_a_question_that_names_a_person_or_a_time_is_narrowed(
    chats: Library, question: str, senders: tuple[str, ...], periods: int, quote: str
) -> None:
    answer = chats.ask(question)
    assert answer.narrowing is not None
    assert (answer.narrowing.senders, len(answer.narrowing.periods)) == (senders, periods)
    assert answer.narrowing.applied
    assert quote in answer.citations[0].quote
    assert {citation.location.senders for citation in answer.citations} == {senders}
    assert chats.narrowing(question) == answer.narrowing
    assert all(senders[0] in result.chunk.location.senders for result in chats.search(question))


def test_where_nothing_under_the_filter_answers_everything_is_searched(chats: Library) -> None:
    answer = chats.ask("¿Qué dijo Ana sobre el código de la reserva del hotel?")
    # Somebody else said it.
    assert (answer.verdict, answer.narrowing) == ("near", Narrowing(("Ana",), (), applied=False))
    assert "GLD-4471" in answer.citations[0].quote
    refused = chats.ask("¿Qué dijo Ana sobre la capital de Mongolia?")
    assert (refused.answered, refused.narrowing) == (False, Narrowing(("Ana",), (), applied=False))


def test_where_nothing_was_said_at_all_everything_is_searched(chats: Library) -> None:
    question = "¿Cuál fue el código de la reserva que dijo Julián ayer?"
    narrowing = chats.narrowing(question)
    assert (narrowing and narrowing.senders, narrowing and narrowing.applied) == (("Julián",), False)
    answer = chats.ask(question)
    assert "GLD-4471" in answer.citations[0].quote
    assert answer.narrowing == narrowing
    assert "GLD-4471" in chats.search(question)[0].chunk.content


def test_a_question_that_names_nobody_is_not_narrowed(chats: Library) -> None:
    for question in ("¿Cuál es la clave del wifi?", "How long does the warranty last?", "¿Qué le damos a Ana?"):
        assert chats.narrowing(question) is None
        assert chats.ask(question).narrowing is None


def test_a_filter_given_holds_whatever_the_question_names(chats: Library) -> None:
    answer = chats.ask("¿Qué dijo Ana sobre el piso?", where={"type": "markdown"})
    assert not {citation.source for citation in answer.citations} - {str(GUIDE)}
    assert answer.narrowing == Narrowing(("Ana",), (), applied=False)


def test_a_library_without_chats_or_that_is_told_not_to_narrows_nothing(embedder: CachedEmbedder) -> None:
    with make_library(":memory:", embedder) as library:
        library.add(GUIDE)
        assert library.narrowing("What did Ana say yesterday?") is None
    with answerable.open(":memory:", narrow=False) as library:
        library.add(CHAT)
        assert library.ask("¿Qué dijo Marta del hotel?").narrowing is None


def test_what_was_never_said_is_not_quoted(chats: Library) -> None:
    answer = chats.ask("¿Qué dijo Ana Lucía el 5 de marzo de 2024?")
    assert answer.citations
    assert not [citation for citation in answer.citations if "omitido" in citation.quote]


# Adding


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_adding_the_examples_twice_embeds_nothing_and_changes_nothing(
    embedder: CachedEmbedder, tmp_path: Path, place: str
) -> None:
    with make_library(":memory:" if place == "memory" else tmp_path / "library", embedder) as library:
        first = library.add(EXAMPLES)
        before, embedded, looked_up = state(library), embedder.embedded, embedder.hits
        second = library.add(EXAMPLES)
        assert (first.added, first.unchanged) == (4, 0)
        assert (second.added, second.changed, second.unchanged, second.chunks) == (0, 0, 4, 0)
        assert (embedder.embedded, embedder.hits) == (embedded, looked_up)
        assert state(library) == before


def test_a_changed_file_takes_the_place_of_its_old_version(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("The meeting is on Monday.")
    library.add(file)
    old = library.documents()[0].id
    file.write_text("The meeting is on Thursday.")
    report = library.add(file)
    assert (report.added, report.changed, report.unchanged) == (0, 1, 0)
    assert texts(library) == {"The meeting is on Thursday."}
    assert library.documents()[0].id != old
    assert [result.chunk.content for result in library.search("meeting Monday")] == ["The meeting is on Thursday."]


def test_a_document_with_a_given_id_is_replaced_when_its_text_changes(library: Library) -> None:
    assert library.add_documents([Document.from_text("red", doc_id="colour")]).added == 1
    assert library.add_documents([Document.from_text("red", doc_id="colour")]).unchanged == 1
    report = library.add_documents([Document.from_text("blue", doc_id="colour")])
    assert (report.added, report.changed) == (0, 1)
    assert library.document("colour").content == "blue"
    assert len(library.documents()) == 1


def test_a_document_keeps_the_time_at_which_it_was_first_added(library: Library) -> None:
    before = time.time()
    library.add_documents([Document.from_text("red", doc_id="colour")])
    (first,) = library.documents()
    assert before <= first.added <= time.time()
    library.add_documents([Document.from_text("blue", doc_id="colour"), Document.from_text("tall", doc_id="size")])
    added = {document.id: document.added for document in library.documents()}
    assert added["colour"] == first.added < added["size"]


def test_a_document_with_other_metadata_is_changed(library: Library) -> None:
    library.add_documents([Document.from_text("red", doc_id="colour", shelf="A")])
    assert library.add_documents([Document.from_text("red", doc_id="colour", shelf="B")]).changed == 1
    assert library.documents()[0].metadata == {"shelf": "B"}


def test_the_same_text_under_two_sources_is_two_documents(library: Library) -> None:
    library.add_documents([Document.from_text("the same", source=source) for source in ("one", "two")])
    assert [document.source for document in library.documents()] == ["one", "two"]
    library.remove(library.resolve("one"))
    assert [document.source for document in library.documents()] == ["two"]
    assert len(library.search("the same")) == 1


def test_of_two_documents_with_one_source_the_later_stays(library: Library) -> None:
    first, second = (Document.from_text(text, source="notes") for text in ("first", "second"))
    report = library.add_documents([first, second])
    assert (report.added, report.changed, report.unchanged) == (1, 1, 0)
    assert texts(library) == {"second"}
    library.add_documents([first, second, first])
    assert texts(library) == {"first"}


def test_the_same_document_twice_in_one_call_is_added_once(library: Library) -> None:
    document = Document.from_text("once", source="notes")
    report = library.add_documents([document, document])
    assert (report.added, report.unchanged, len(library.documents())) == (1, 1, 1)


def test_an_empty_document_among_others_is_reported(library: Library) -> None:
    documents = [Document.from_text("one"), Document.from_text(" \n ", doc_id="blank"), Document.from_text("two")]
    report = library.add_documents(documents)
    assert report.added == 2
    assert [(failure.source, type(failure.error)) for failure in report.failures] == [("blank", EmptySource)]
    assert texts(library) == {"one", "two"}


def test_documents_may_come_from_a_generator(library: Library) -> None:
    assert library.add_documents(Document.from_text(text) for text in ("one", "two")).added == 2


def test_one_bad_file_among_a_hundred_is_reported_and_the_others_are_in(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(99):
        (folder / f"{number:02}.txt").write_text(f"This is note number {number} about topic {number % 7}.")
    (folder / "50b.pdf").write_bytes(b"%PDF-1.7\nbroken beyond repair")
    report = library.add(folder)
    assert (report.added, len(report.failures), len(library.documents())) == (99, 1, 99)
    assert report.failures[0].source.endswith("50b.pdf")
    again = library.add(folder)
    assert (again.added, again.unchanged, len(again.failures)) == (0, 99, 1)


def test_a_single_file_that_cannot_be_read_raises(library: Library, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nbroken")
    with pytest.raises(SourceError, match=re.escape("broken.pdf")):
        library.add(broken)
    assert library.documents() == []


@pytest.mark.parametrize("source", ["", "~nobody-of-that-name/file", "no\0thing", "x" * 5000])
def test_odd_paths_are_source_errors(library: Library, source: str) -> None:
    with pytest.raises(SourceError):
        library.add(source)


@pytest.mark.parametrize(
    "address", ["a\0b", "~\0x", Path("a\0b"), ["a\0b", "c"], "plug://a\0b", "postgresql://u:p\0w@h/a"]
)
@pytest.mark.parametrize("create", [True, False])
def test_an_address_with_a_nul_character_is_an_error_of_ours(address: str, create: bool) -> None:
    with pytest.raises(SettingsError, match="has a NUL character"):
        answerable.open(address, create)


def test_a_library_within_the_folder_that_is_added_is_not_added_itself(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("A note next to its library.")
    with make_library(tmp_path / "library", HashEmbedder()) as library:
        library.add(tmp_path)
        again = library.add(tmp_path)
        assert (again.added, again.unchanged, again.failures) == (0, 1, [])
    with make_library(tmp_path, HashEmbedder()) as library:
        report = library.add(tmp_path)
        assert (report.added, report.failures) == (1, [])


def test_a_dry_run_counts_and_changes_nothing(library: Library, tmp_path: Path) -> None:
    library.add(GUIDE)
    before = state(library)
    report = library.add(EXAMPLES, dry_run=True)
    assert (report.added, report.unchanged) == (3, 1)
    assert report.chunks > 5
    assert report.tokens > 500
    assert report.estimated_seconds > 0
    assert state(library) == before
    nothing_new = library.add(GUIDE, dry_run=True)
    assert (nothing_new.tokens, nothing_new.estimated_seconds) == (0, 0)


def test_progress_goes_forward_and_ends_complete(library: Library) -> None:
    seen: list[Progress] = []
    report = library.add(EXAMPLES, on_progress=seen.append)
    for earlier, later in itertools.pairwise(seen):
        assert later.chunks_done >= earlier.chunks_done
        assert later.chunks_total >= earlier.chunks_total
        assert later.sources_done >= earlier.sources_done
    assert all(0 <= one.document_done <= one.document_total for one in seen)
    assert all(one.chunks_done <= one.chunks_total for one in seen)
    assert {one.sources_total for one in seen} == {4}
    last = seen[-1]
    assert (last.chunks_done, last.chunks_total, last.sources_done) == (report.chunks, report.chunks, 4)
    assert last.document_done == last.document_total
    assert {Path(one.source).name for one in seen} == {path.name for path in EXAMPLES.iterdir()}


def test_progress_is_told_of_files_that_are_there_already(library: Library) -> None:
    library.add(EXAMPLES)
    seen: list[Progress] = []
    library.add(EXAMPLES, on_progress=seen.append)
    assert [one.sources_done for one in seen] == [0, 1, 2, 3]


@pytest.mark.parametrize("after", [1, 3, 7, 12])
def test_whatever_interrupts_adding_leaves_whole_documents(library: Library, tmp_path: Path, after: int) -> None:
    documents = [
        Document.from_text(f"Document {number}. " + f"Words of {number} go on and on. " * 150, source=f"{number}")
        for number in range(4)
    ]

    def interrupt(progress: Progress) -> None:
        if progress.chunks_done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add_documents(documents, on_progress=interrupt)
    kept = library.documents()
    assert len(kept) == 4
    for stored in kept:
        covered = "".join("".join(chunk.content.split()) for chunk in _without_overlap(library, stored.id))
        assert covered == "".join(library.document(stored.id).content.split())
    assert {result.document.id for result in library.search("words", k=100)} == {stored.id for stored in kept}
    report = library.add_documents(documents)
    assert (report.added, report.unchanged) == (0, 4)
    assert library.store.waiting() == []
    assert library.verify().findings == []


def _without_overlap(library: Library, document_id: str) -> Iterator[answerable.Chunk]:
    end = 0
    for chunk in library.chunks(document_id):
        yield replace(chunk, content=chunk.content[max(end - chunk.start, 0) :])
        end = chunk.end


# Searching and asking


def test_search_ranks_by_score_and_gives_k(examples: Library) -> None:
    found = examples.search("warranty seals", k=5)
    assert len(found) == 5
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert "warranty" in found[0].chunk.content
    assert found[0].document.source == str(GUIDE)
    assert len(examples.search("warranty", k=1)) == 1
    assert len(examples.search("warranty", k=1000)) <= examples.stats().chunks


def test_search_and_ask_refuse_senseless_calls(examples: Library) -> None:
    for empty in ("", " \n\t"):
        with pytest.raises(ValueError, match="ask something"):
            examples.ask(empty)
        with pytest.raises(ValueError, match="ask something"):
            examples.search(empty)
    for k in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            examples.search("coffee", k=k)
    with pytest.raises(FilterError):
        examples.ask("coffee", where={"page": {"near": 3}})


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("¿Cuál es el código de la reserva?", "GLD-4471"),
        ("How long does the warranty last?", "24 months"),
        ("Quando a alface fica pronta?", "quarenta e cinco dias"),
        ("May a tool be kept longer than the loan period?", ""),
    ],
)
def test_questions_are_answered_with_quotes(examples: Library, question: str, quoted: str) -> None:
    answer = examples.ask(question)
    assert quoted in " ".join(citation.quote for citation in answer.citations)
    assert answer.answered is (answer.reason is Reason.ANSWERED)
    assert bool(answer.citations) is (answer.verdict != "not found")


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.long)])
def test_every_citation_is_verbatim_in_its_document(examples: Library, step: int) -> None:
    answered = 0
    for question in QUESTIONS[::step]:
        answer = examples.ask(question)
        answered += answer.answered
        assert (answer.verdict != "not found") == bool(answer.citations)
        for number, citation in enumerate(answer.citations, 1):
            document = examples.document(citation.document_id)
            assert document.content[citation.start : citation.end] == citation.quote
            assert citation.source == document.source
            assert citation.quote.strip()
            assert str(citation.location)
            assert citation.link.startswith("file://")
            assert f"[{number}]" in answer.text
        for result in answer.results:
            chunk = result.chunk
            assert examples.document(chunk.document_id).content[chunk.start : chunk.end] == chunk.content
    assert answered >= 15 // step


@pytest.mark.parametrize(
    ("question", "language", "refusal"),
    [
        ("Who won the football world cup in 1998?", "en", "The documents don't say."),
        ("¿Quién ganó el mundial de fútbol de 1998?", "es", "Los documentos no lo dicen."),
        (
            "Quem ganhou a copa do mundo de futebol de 1998?",
            "pt",
            "Os documentos não dizem.",
        ),
    ],
)
def test_what_the_documents_do_not_say_is_refused_in_the_language_of_the_question(
    examples: Library, question: str, language: str, refusal: str
) -> None:
    answer = examples.ask(question)
    assert (answer.answered, answer.citations, answer.language, answer.text) == (False, (), language, refusal)
    assert answer.reason in (Reason.WEAK_EVIDENCE, Reason.NOTHING_FOUND)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How long does the warranty last?", "The library is empty: add documents first."),
        ("¿Cuánto dura la garantía de la máquina?", "La biblioteca está vacía: añade documentos primero."),
        ("Quanto tempo dura a garantia da máquina?", "A biblioteca está vazia: adicione documentos primeiro."),
    ],
)
def test_an_empty_library_says_so(library: Library, question: str, said: str) -> None:
    answer = library.ask(question)
    assert (answer.text, answer.answered, answer.reason) == (said, False, Reason.EMPTY_LIBRARY)
    assert set(answer.timings) == {"total"}
    assert library.search(question) == []


@pytest.mark.long
def test_asking_twice_gives_the_same_answer(examples: Library) -> None:
    for question in QUESTIONS[::4]:
        first, second = (replace(examples.ask(question), timings={}) for _ in range(2))
        assert first == second


def test_timings_are_given_for_each_step(examples: Library) -> None:
    timings = examples.ask("How long does the warranty last?").timings
    assert list(timings) == ["embedding", "retrieval", "answering", "total"]
    assert all(seconds >= 0 for seconds in timings.values())
    assert timings["total"] >= sum(seconds for name, seconds in timings.items() if name != "total") * 0.99


# Filters


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ({"type": "pdf"}, lambda result: result.document.type is DocumentType.PDF),
        ({"type": ["pdf", "html"]}, lambda result: result.document.type in (DocumentType.PDF, DocumentType.HTML)),
        ({"language": "pt"}, lambda result: result.document.source.endswith(".html")),
        ({"sender": "ana lucia"}, lambda result: "Ana Lucía" in result.chunk.location.senders),
        ({"source": str(GUIDE)}, lambda result: result.document.source == str(GUIDE)),
        ({"page": 2}, lambda result: 2 in range(result.chunk.location.pages[0], result.chunk.location.pages[1] + 1)),
        ({"heading": "descaling"}, lambda result: "Descaling" in result.chunk.location.headings),
        ({"not": {"type": "chat"}}, lambda result: result.document.type is not DocumentType.CHAT),
        (
            {"date": {"gte": "2024-03-20", "lte": "2024-03-20"}},
            lambda result: any(f"{part.time:%d}" == "20" for part in result.chunk.parts if part.time),
        ),
    ],
)
def test_filters_narrow(examples: Library, where: dict[str, Any], holds: Callable[[Any], bool]) -> None:
    everything = examples.search("agua water água", k=100)
    found = examples.search("agua water água", k=100, where=where)
    assert 0 < len(found) < len(everything)
    assert all(holds(result) for result in found)
    assert {citation.document_id for citation in examples.ask("agua water água", where=where).citations} <= {
        result.document.id for result in found
    }


def test_filters_on_custom_metadata(library: Library) -> None:
    shelves = {"A": 1999, "B": 2010, "C": 2024}
    library.add_documents(Document.from_text(f"A book on shelf {s}.", shelf=s, year=y) for s, y in shelves.items())

    def found(where: dict[str, Any]) -> set[str]:
        return {result.document.metadata["shelf"] for result in library.search("book", where=where)}

    assert found({"shelf": "b"}) == {"B"}
    assert found({"year": {"gte": 2005}}) == {"B", "C"}
    assert found({"or": [{"shelf": "A"}, {"year": 2024}]}) == {"A", "C"}
    assert found({"shelf": {"exists": False}}) == set()


def test_of_a_chat_window_only_messages_that_pass_the_filter_are_quoted(embedder: Embedder) -> None:
    with make_library(":memory:", embedder, refuse=False) as library:
        library.add(CHAT)
        for where in ({"sender": "ana lucia"}, {"date": {"gte": "2024-03-05", "lte": "2024-03-06"}}):
            answer = library.ask("¿Cuánto cuesta el autobús y dónde está el hotel?", where)
            assert answer.citations
            for citation in answer.citations:
                assert citation.location.times
                day = citation.location.times[0].date().isoformat()
                assert "sender" not in where or citation.location.senders == ("Ana Lucía",)
                assert "date" not in where or "2024-03-05" <= day <= "2024-03-06"


def test_a_filter_that_nothing_passes_gives_a_refusal(examples: Library) -> None:
    answer = examples.ask("How long does the warranty last?", where={"sender": "Nobody"})
    assert (answer.answered, answer.reason, answer.results) == (False, Reason.NOTHING_FOUND, ())


# Documents


def test_removing_a_document_removes_every_trace(library: Library) -> None:
    library.add(EXAMPLES)
    gone = library.resolve(str(GUIDE))
    library.remove(gone)
    assert gone not in {document.id for document in library.documents()}
    assert all(result.document.id != gone for result in library.search("warranty descaling espresso", k=100))
    assert library._store.document_frequency(["espresso"]) == {"espresso": 0}
    assert library.stats().documents == 3
    for act in (library.remove, library.document, library.chunks):
        with pytest.raises(DocumentNotFound, match="answerable list"):
            act(gone)
    assert library.add(EXAMPLES).added == 1


def test_documents_and_stats_describe_what_is_there(examples: Library) -> None:
    documents = examples.documents()
    assert [document.source for document in documents] == sorted(str(path) for path in EXAMPLES.iterdir())
    assert [(document.type, document.language) for document in documents] == [
        ("chat", "es"),
        ("markdown", "en"),
        ("html", "pt"),
        ("pdf", "en"),
    ]
    stats = examples.stats()
    assert (stats.documents, stats.chunks) == (4, sum(document.chunks for document in documents))
    assert stats.characters == sum(len(examples.document(document.id).content) for document in documents)
    assert dict(stats.languages) == {"en": 2, "es": 1, "pt": 1}
    assert dict(stats.types) == {"chat": 1, "markdown": 1, "html": 1, "pdf": 1}
    assert stats.fingerprint is not None


def test_resolve_takes_ids_their_beginnings_and_sources(library: Library) -> None:
    library.add_documents(Document.from_text(text, doc_id=text, source=f"/{text}") for text in ("abc", "abd", "xyz"))
    assert library.resolve("abc") == library.resolve("/abc") == "abc"
    assert library.resolve("x") == "xyz"
    with pytest.raises(DocumentNotFound, match="2 documents"):
        library.resolve("ab")
    for unknown in ("nothing", ""):
        with pytest.raises(DocumentNotFound, match="answerable list"):
            library.resolve(unknown)


def test_resolve_takes_names_and_says_which_several_are_meant(library: Library) -> None:
    sources = {
        "1": "/notes/2024/gate.txt",
        "2": "/notes/2025/gate.txt",
        "3": "/notes/Reunio\u0301n.md",
        "4": "/exports/chat.zip!/one.txt",
        "5": "/exports/chat.zip!/two.txt",
        "6": "https://book.example/guide/setup",
    }
    titled = {"6": "Setting up"}
    library.add_documents(
        Document.from_text(f"Text {number}.", doc_id=f"id{number}", source=source, title=titled.get(number, ""))
        for number, source in sources.items()
    )
    assert library.resolve("2024/gate.txt") == "id1"
    assert library.resolve("2025/Gate.txt") == "id2"
    assert library.resolve("reunión.md") == "id3"
    assert library.resolve("two.txt") == library.resolve("chat.zip!/two.txt") == "id5"
    assert library.resolve("setup") == library.resolve("setting up") == "id6"
    with pytest.raises(DocumentNotFound, match=r"2 documents .*: id1  /.+/gate\.txt, id2  /.+/gate\.txt$"):
        library.resolve("gate.txt")
    with pytest.raises(DocumentNotFound, match=r"id4  .*chat\.zip!/one\.txt, id5  .*!/two\.txt"):
        library.resolve("chat.zip")
    with pytest.raises(DocumentNotFound, match="6 documents") as caught:
        library.resolve("id")
    assert len(caught.value.candidates) == 6
    assert library.resolve("reunion") == "id3"
    assert library.resolve("setting") == "id6"
    with pytest.raises(DocumentNotFound, match="answerable list"):
        library.resolve("se")
    library.add_documents(Document.from_text(f"More {number}.", doc_id=f"id-{number}") for number in range(9))
    with pytest.raises(DocumentNotFound, match=r"9 documents .* and 1 more"):
        library.resolve("id-")
    with pytest.raises(DocumentNotFound, match="answerable list"):
        library.resolve("ate.txt")


def test_neighbours_are_the_chunks_around(examples: Library) -> None:
    chunks = examples.chunks(examples.resolve(str(GUIDE)))
    assert examples.neighbours(chunks[3]) == chunks[2:5]
    assert examples.neighbours(chunks[0], before=2, after=0) == chunks[:1]
    assert examples.neighbours(chunks[-1], before=1, after=5) == chunks[-2:]


# Opening


def test_another_embedder_is_an_error_that_names_the_way_out(tmp_path: Path) -> None:
    other = Fingerprint("openai", "text-embedding-3-small", 1536)
    store = build_store(str(tmp_path / "library"))
    store.bind_embedder(other)
    store.close()
    with pytest.raises(EmbedderMismatch) as caught:
        make_library(tmp_path / "library", HashEmbedder())
    for part in ("openai:text-embedding-3-small", "1536", "hash:words", "--library"):
        assert part in str(caught.value)


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_two_embedders_never_share_a_library_that_both_opened_empty(kind: str, tmp_path: Path) -> None:
    store = build_store(":memory:" if kind == "memory" else str(tmp_path / "library"))
    parts = {"splitter": build_splitter(Settings()), "reader": READER}
    one, other = (
        Library(store, embedder, answerer=build_answerer(Settings(), embedder.fingerprint), **parts)  # type: ignore[arg-type]
        for embedder in (HashEmbedder(), HashEmbedder(8))
    )
    one.add_documents([Document.from_text("The code is 4711.", doc_id="code")])
    with pytest.raises(EmbedderMismatch):
        other.add_documents([Document.from_text("The code is 4712.", doc_id="other")])
    assert [document.id for document in one.documents()] == ["code"]
    one.close()


def test_open_makes_a_library_and_finds_it_again(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound, match="answerable add"):
        answerable.open(tmp_path / "library", create=False)
    assert not (tmp_path / "library").exists()
    with answerable.open(tmp_path / "library") as library:
        library.add_documents([Document.from_text("The code is 4711.", doc_id="code")])
    with answerable.open(str(tmp_path / "library"), create=False) as library:
        answer = library.ask("What is the code?")
    assert [citation.quote for citation in answer.citations] == ["The code is 4711."]
    library.close()


def test_read_gives_documents_without_adding_them() -> None:
    documents = answerable.read(EXAMPLES)
    assert [document.type for document in documents] == ["chat", "markdown", "html", "pdf"]
    assert answerable.read(str(GUIDE))[0] == documents[1]


# Parts of one's own


def test_an_embedder_and_an_answerer_of_ones_own(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    answerer = build_answerer(Settings(reader="off", refuse=False), embedder.fingerprint)
    with answerable.open(tmp_path / "library", embedder=embedder, model=answerer) as library:
        library.add_documents([Document.from_text("The kettle is blue.")])
        assert library.embedder is embedder
        assert library.ask("Which colour has the kettle?").answered
        assert library.use_answerer(answerer) is answerer
    with pytest.raises(EmbedderMismatch):
        answerable.open(tmp_path / "library")
    with pytest.raises(SettingsError, match="Leave workers on 1"):
        answerable.open(":memory:", embedder=embedder, workers=2)
