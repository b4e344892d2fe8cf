"""The pipeline: indexing all or nothing, hybrid retrieval, filters, with the toolkit's store and with another."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from toolkit_parts import Counting, ListStore, embed_words, example, made_chunk

from answerable.errors import FilterError
from codomyrmex.llm.rag import (
    Chunk,
    Document,
    InMemoryVectorStore,
    RAGPipeline,
    RecursiveTextSplitter,
    SentenceSplitter,
    TextSplitter,
    VectorStore,
)

STORES = pytest.mark.parametrize("make_store", [InMemoryVectorStore, ListStore])
MakeStore = Callable[[], VectorStore]


def animals() -> list[Document]:
    """Three short documents with a source and a date."""
    return [
        Document.from_text("Cats sleep most of the day.", "cats", source="pets.txt", date="2024-01-05"),
        Document.from_text("Dogs bark at the postman.", "dogs", source="pets.txt", date="2024-03-01"),
        Document.from_text("Whales sleep with half of their brain.", "whales", source="sea.txt", date="2024-03-31"),
    ]


def found(pipeline: RAGPipeline, query: str, **options: object) -> list[str]:
    """The documents of the results, best first."""
    return [result.chunk.document_id for result in pipeline.retrieve(query, **options)]  # type: ignore[arg-type]


@STORES
def test_index_retrieve_and_build_context(make_store: MakeStore) -> None:
    pipeline = RAGPipeline(embed_words, make_store())
    assert pipeline.index_document(animals()[0]) == 1
    assert pipeline.index_documents(animals()[1:]) == 2
    results = pipeline.retrieve("Which dogs bark?", k=2)
    assert len(results) == 2
    assert results[0].document == animals()[1]
    assert results[0].chunk.content == "Dogs bark at the postman."
    assert 1 >= results[0].score > results[1].score >= 0
    context = pipeline.build_context("Which dogs bark?", k=1)
    assert (context.query, context.results) == ("Which dogs bark?", results[:1])
    assert "Dogs bark at the postman." in context.formatted_context


def test_the_embedding_function_is_all_it_needs() -> None:
    counting = Counting()
    RAGPipeline(counting).index_documents(animals())
    assert counting.calls == [[document.content for document in animals()]]


def test_an_empty_store_that_is_given_is_used() -> None:
    store = InMemoryVectorStore()
    RAGPipeline(embed_words, vector_store=store).index_documents(animals())
    assert len(store) == 3


def test_long_documents_are_embedded_in_batches_across_documents() -> None:
    counting = Counting()
    pipeline = RAGPipeline(counting, text_splitter=SentenceSplitter(1, 0))
    texts = [" ".join(f"Sentence {name} {number} is here." for number in range(20)) for name in "abcde"]
    assert pipeline.index_documents([Document.from_text(text) for text in texts]) == 100
    assert [len(call) for call in counting.calls] == [64, 36]


def test_empty_documents_have_no_chunks() -> None:
    pipeline = RAGPipeline(embed_words)
    assert pipeline.index_document(Document.from_text("", "empty")) == 0
    assert pipeline.index_documents([]) == 0
    assert pipeline.retrieve("anything") == []
    assert pipeline.delete_document("empty") is True


@STORES
def test_indexing_again_replaces(make_store: MakeStore) -> None:
    pipeline = RAGPipeline(embed_words, make_store(), RecursiveTextSplitter(30, 0))
    pipeline.index_document(Document.from_text("Cats sleep all day.\n\nCats purr at night.\n\nCats hunt mice.", "cats"))
    for text in ("Cats sleep all day.\n\nCats climb trees.", "Cats sleep all day.\n\nCats climb trees."):
        assert pipeline.index_document(Document.from_text(text, "cats")) == 2
        contents = [result.chunk.content for result in pipeline.retrieve("What do cats do?", k=10)]
        assert sorted(contents) == ["Cats climb trees.", "Cats sleep all day."]
    stored = pipeline.vector_store.search(embed_words(["cats"])[0], 10)
    assert len(stored) == 2


def test_what_has_not_changed_is_not_embedded_again() -> None:
    counting = Counting()
    pipeline = RAGPipeline(counting, text_splitter=RecursiveTextSplitter(30, 0))
    for ending in ("Cats hunt mice.", "Cats climb trees."):
        pipeline.index_document(Document.from_text(f"Cats sleep all day.\n\nCats purr at night.\n\n{ending}", "cats"))
    assert [len(call) for call in counting.calls] == [3, 1]


@STORES
def test_a_failing_embedding_leaves_what_was_there(make_store: MakeStore) -> None:
    counting = Counting()
    pipeline = RAGPipeline(counting, make_store())
    pipeline.index_documents(animals())
    before = pipeline.retrieve("Who sleeps?")
    counting.broken = True
    with pytest.raises(ConnectionError):
        pipeline.index_documents([Document.from_text("New.", "new"), Document.from_text("Cats fly.", "cats")])
    counting.broken = False
    assert pipeline.retrieve("Who sleeps?") == before
    assert pipeline.delete_document("new") is False


class FullStore(ListStore):
    """A store that has no room for a third chunk."""

    def add(self, chunks: list[Chunk]) -> None:
        """Raises where there is no room."""
        if len(self.chunks) + len(chunks) > 2:
            raise OSError("no room")
        super().add(chunks)


def test_a_failing_store_leaves_what_was_there() -> None:
    pipeline = RAGPipeline(embed_words, FullStore())
    pipeline.index_documents(animals()[:2])
    with pytest.raises(OSError, match="no room"):
        pipeline.index_document(Document.from_text("Cats fly.", "cats"))
    assert found(pipeline, "Cats", k=1) == ["cats"]
    assert pipeline.retrieve("Cats", k=1)[0].chunk.content == "Cats sleep most of the day."


@STORES
def test_deleting_a_document(make_store: MakeStore) -> None:
    pipeline = RAGPipeline(embed_words, make_store())
    pipeline.index_documents(animals())
    assert pipeline.delete_document("dogs") is True
    assert pipeline.delete_document("dogs") is False
    assert pipeline.delete_document("unknown") is False
    assert sorted(found(pipeline, "Do dogs bark?")) == ["cats", "whales"]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([[1.0]], "returned 1 vectors for 3 texts"),
        ([[1.0], [1.0, 2.0], [1.0]], "all of one length"),
        ([[], [], []], "at least one number"),
        ([[1.0], [float("nan")], [1.0]], "finite"),
        ([1.0, 2.0, 3.0], "must be lists"),
        (None, "returned NoneType: it must return a list"),
        (1.0, "returned float: it must return a list"),
        ([None, None, None], "must be lists"),
    ],
)
def test_vectors_that_cannot_be_those_of_the_texts_are_refused(returned: Any, message: str) -> None:
    pipeline = RAGPipeline(lambda texts: returned)
    with pytest.raises(ValueError, match=message):
        pipeline.index_documents(animals())
    assert pipeline.delete_document("cats") is False


class ByLine(TextSplitter):
    """Somebody else's splitter: numbers lines, and forgets to name the document in the ids."""

    def split(self, document: Document) -> list[Chunk]:
        """A chunk a line."""
        return [Chunk(str(place), line, "", place, 0, 0) for place, line in enumerate(document.content.split("\n"))]


def test_chunks_that_share_an_id_are_refused() -> None:
    pipeline = RAGPipeline(embed_words, text_splitter=ByLine())
    assert pipeline.index_document(Document.from_text("Cats.\nDogs.", "one")) == 2
    assert pipeline.index_document(Document.from_text("Cats.\nWhales.", "one")) == 2
    with pytest.raises(ValueError, match="two chunks have the id '0'"):
        pipeline.index_document(Document.from_text("Birds.", "two"))
    assert found(pipeline, "Whales", k=1) == ["one"]


@STORES
def test_keywords_find_what_vectors_miss(make_store: MakeStore) -> None:
    pipeline = RAGPipeline(blind, make_store())
    pipeline.index_documents([*animals(), Document.from_text("The error E4711 means that the door is open.", "manual")])
    assert found(pipeline, "What does E4711 mean?", k=1) == ["manual"]


@STORES
def test_a_lone_document_scores_by_what_it_has_to_do_with_the_query(make_store: MakeStore) -> None:
    pipeline = RAGPipeline(embed_words, make_store())
    pipeline.index_document(animals()[1])
    assert [result.score for result in pipeline.retrieve("zylophone qwerty")] == pytest.approx([0.0], abs=1e-6)
    (partly,) = pipeline.retrieve("Do dogs purr?")
    (wholly,) = pipeline.retrieve("Dogs bark at the postman.")
    assert 0.05 < partly.score < 0.5 < wholly.score <= 1


def test_vectors_that_are_near_for_any_text_say_nothing() -> None:
    def alike(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.75 if "?" in text else 0.0] for text in texts]

    pipeline = RAGPipeline(alike)
    pipeline.index_documents(animals())
    assert pipeline.retrieve("qwerty?")[0].score == 0


def test_a_function_that_embeds_only_texts_it_knows_is_enough() -> None:
    known = {"Dogs bark at the postman.": [1.0, 0.0], "Who is noisy?": [0.8, 0.6]}
    pipeline = RAGPipeline(lambda texts: [known[text] for text in texts])
    pipeline.index_document(animals()[1])
    assert [result.score for result in pipeline.retrieve("Who is noisy?")] == pytest.approx([0.4])


RELATED = [
    ("The annual fee of the tool library is 36 euros, in cash.", "How much do members pay every twelve months?"),
    ("El alquiler se paga el día cinco de cada mes.", "¿Cuándo hay que abonar la renta?"),
    ("As chaves ficam com o porteiro do prédio.", "Onde pego o molho para abrir a casa?"),
]


@pytest.mark.parametrize("is_lone", [True, False])
def test_scores_tell_related_from_unrelated_with_the_local_model(
    embed_meaning: Callable[[list[str]], list[list[float]]], is_lone: bool
) -> None:
    for text, question in RELATED:
        pipeline = RAGPipeline(embed_meaning)
        pipeline.index_documents([Document.from_text(text), *([] if is_lone else animals())])
        questions = question, "Who painted the Mona Lisa?", "How do vaccines work?", "¿Cuál es la capital de Mongolia?"
        related, *unrelated = (pipeline.retrieve(asked, k=1)[0].score for asked in questions)
        assert related > 2 * max(unrelated), text


def blind(texts: list[str]) -> list[list[float]]:
    """The same vector for every text."""
    return [[1.0, 0.0] for _ in texts]


@STORES
@pytest.mark.parametrize("embed", [blind, embed_words])
@pytest.mark.parametrize(
    "query", ["INV-2024-0277", "When is INV-2024-0277 due?", "due date inv-2024-0277", 'the "number 277"']
)
def test_an_identifier_comes_before_what_is_equal_otherwise(
    make_store: MakeStore, embed: Callable[[list[str]], list[list[float]]], query: str
) -> None:
    pipeline = RAGPipeline(embed, make_store())
    pipeline.index_documents(
        [
            Document.from_text(
                f"Invoice INV-2024-{number:04}, number {number}, is due in {number % 30} days.", str(number)
            )
            for number in range(1, 301)
        ]
    )
    assert found(pipeline, query, k=1) == ["277"]
    assert found(pipeline, query, k=1, where={"document_id": ["12", "13"]}) in (["12"], ["13"])


@STORES
def test_without_hybrid_vectors_alone_decide(make_store: MakeStore) -> None:
    def by_length(texts: list[str]) -> list[list[float]]:
        return [[1.0, len(text) / 100] for text in texts]

    documents = [*animals(), Document.from_text("The error E4711 means that the door is open.", "manual")]
    pipeline, store = RAGPipeline(by_length, make_store(), hybrid=False), make_store()
    pipeline.index_documents(documents)
    both = RAGPipeline(by_length, store)
    both.index_documents(documents)
    query = "What does E4711 mean?"
    assert "manual" in found(both, query, k=2)
    assert found(pipeline, query) == ["dogs", "cats", "whales", "manual"]
    cosines = [hit.score for hit in store.search(by_length([query])[0])]
    assert [result.score for result in pipeline.retrieve(query)] == pytest.approx(cosines)
    assert found(pipeline, query, where={"source": "pets.txt"}) == ["dogs", "cats"]
    assert pipeline.build_context(query, k=1).results[0].chunk.document_id == "dogs"


@STORES
def test_words_are_stemmed_in_the_language_of_the_document(make_store: MakeStore) -> None:
    pipeline = RAGPipeline(blind, make_store())
    pipeline.index_documents(
        [
            Document.from_text("As reuniões do condomínio acontecem nas segundas-feiras de cada mês.", "reuniões"),
            Document.from_text("O porteiro recebe as encomendas dos moradores durante o dia.", "porteiro"),
        ]
    )
    assert found(pipeline, "Quando é a reunião?", k=1) == ["reuniões"]


@STORES
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"source": "pets.txt"}, {"cats", "dogs"}),
        ({"source": ["sea.txt", "sky.txt"]}, {"whales"}),
        ({"date": {"gte": "2024-03-01"}}, {"dogs", "whales"}),
        ({"date": {"lte": "2024-03-30"}, "source": "pets.txt"}, {"cats", "dogs"}),
        ({"not": {"document_id": "cats"}}, {"dogs", "whales"}),
        ({"doc_type": "text"}, {"cats", "dogs", "whales"}),
        ({"doc_type": "pdf"}, set()),
        ({"or": [{"document_id": "cats"}, {"date": {"gt": "2024-03-30"}}]}, {"cats", "whales"}),
    ],
)
def test_filters(make_store: MakeStore, where: dict[str, object], expected: set[str]) -> None:
    pipeline = RAGPipeline(embed_words, make_store())
    pipeline.index_documents(animals())
    assert set(found(pipeline, "Who sleeps?", where=where)) == expected
    context = pipeline.build_context("Who sleeps?", where=where)
    assert {result.chunk.document_id for result in context.results} == expected


def test_a_filter_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(FilterError):
        RAGPipeline(embed_words).retrieve("cats", where={"date": {"around": "2024"}})


def test_a_store_without_filters_is_asked_until_enough_pass() -> None:
    store = ListStore()
    pipeline = RAGPipeline(embed_words, store)
    pipeline.index_documents(
        [Document.from_text(f"Sleep {'deeply ' * (number // 10)}", str(number), rank=number) for number in range(600)]
    )
    assert set(found(pipeline, "sleep", k=3, where={"rank": {"gte": 598}})) == {"598", "599"}
    assert store.asked == [100, 400, 1600]


def test_both_stores_give_the_same_results() -> None:
    pipelines = [
        RAGPipeline(embed_words, store, SentenceSplitter(2, 1)) for store in (InMemoryVectorStore(), ListStore())
    ]
    for pipeline in pipelines:
        pipeline.index_documents([example("espresso-machine-guide.md"), example("riverside-library-rules.pdf")])
    for query, where in (
        ("How often should I descale the machine?", None),
        ("What does membership cost?", {"doc_type": "pdf"}),
        ("the", {"pages": 1}),
    ):
        one, other = (
            {result.chunk.id: result.score for result in pipeline.retrieve(query, 100, where)} for pipeline in pipelines
        )
        # The order may differ where the scores do so only behind the precision of the store.
        assert one == pytest.approx(other, abs=1e-5)


def test_a_store_may_hold_more_than_the_pipeline_indexed() -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk("loose", embed_words(["Bats sleep upside down."])[0], "bats", source="cave.txt")])
    pipeline = RAGPipeline(embed_words, store)
    pipeline.index_documents(animals())
    results = {result.chunk.id: result for result in pipeline.retrieve("Bats sleep upside down", 10)}
    assert len(results) == 4
    assert results["loose"].document is None
    assert found(pipeline, "Who?", where={"source": "cave.txt"}) == ["bats"]


def test_who_reads_sees_one_version_or_the_other() -> None:
    pipeline = RAGPipeline(embed_words, text_splitter=SentenceSplitter(1, 0))
    versions = [" ".join(f"{word} number {place}." for place in range(5)) for word in ("Old", "New")]
    contents = [set(re.findall(r"\w+ number \d\.", version)) for version in versions]
    pipeline.index_document(Document.from_text(versions[0], "d"))

    def write() -> None:
        for turn in range(60):
            pipeline.index_document(Document.from_text(versions[turn % 2], "d"))

    with ThreadPoolExecutor(3) as pool:
        writing = pool.submit(write)
        while not writing.done():
            for results in pool.map(lambda _: pipeline.retrieve("number", k=10), range(2)):
                assert {result.chunk.content for result in results} in contents
        writing.result()


def test_nothing_is_found_for_nothing() -> None:
    pipeline = RAGPipeline(embed_words)
    assert pipeline.retrieve("before anything is indexed") == []
    pipeline.index_documents(animals())
    assert pipeline.retrieve("  \n") == []
    assert pipeline.retrieve("cats", k=0) == []
    assert len(pipeline.retrieve("cats", k=50)) == 3
    with pytest.raises(ValueError, match="k is -1"):
        pipeline.retrieve("cats", k=-1)


def test_what_callers_change_stays_outside() -> None:
    pipeline = RAGPipeline(embed_words)
    document = animals()[0]
    pipeline.index_document(document)
    document.content, document.metadata["date"] = "Other.", "1999-01-01"
    (given,) = pipeline.retrieve("cats")
    assert given.document is not None
    given.chunk.metadata["date"], given.document.content = "1999-01-01", "Other."
    (result,) = pipeline.retrieve("cats", where={"date": "2024-01-05"})
    assert result.document is not None
    content = result.document.content[result.chunk.start_char : result.chunk.end_char]
    assert content == result.chunk.content == "Cats sleep most of the day."


def test_questions_about_real_files_with_the_local_model(
    embed_meaning: Callable[[list[str]], list[list[float]]],
) -> None:
    pipeline = RAGPipeline(embed_meaning, text_splitter=RecursiveTextSplitter(500, 50))
    names = ("riverside-library-rules.pdf", "espresso-machine-guide.md", "horta-na-varanda.html")
    assert pipeline.index_documents([example(name) for name in names]) > 5
    (best,) = pipeline.retrieve("How much does it cost to be a member of the tool library for a year?", k=1)
    assert "36 euros a year" in best.chunk.content
    assert best.chunk.metadata["pages"] == [1]
    (other,) = pipeline.retrieve("How much does it cost for a year?", k=1, where={"language": "pt"})
    assert other.document is not None
    assert other.document.source.endswith("horta-na-varanda.html")
