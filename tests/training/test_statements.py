"""Statements to learn support from: true ones are said by their passage, false ones are changed."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest
from training.corpus import Builder, Corpus, Question
from training.declarative import declarative
from training.falsehoods import WAYS, Material, exchange, make_false, names_of
from training.statement import Statement
from training.statements import LONGEST_PASSAGE, LONGEST_STATEMENT, Statements, counterpart, twins

ENGLISH = (
    "The mill of Ashford was built by Peter Wolf in 1974. In 1981 Maria Lopez bought the mill from the Wolf family. "
    "Some visitors say that the upper floor is larger than the lower floor. It is open in summer and closed in winter."
)
SPANISH = (
    "El molino de Ashford fue construido por Peter Wolf en 1974. En 1981 Maria Lopez compró el molino a los "
    "Wolf. Algunos visitantes dicen que el piso superior es más grande. Está abierto en verano y cerrado en invierno."
)
ASKED = (("Who built the mill of Ashford?", "Peter Wolf"), ("When was the mill of Ashford built?", "1974"),
         ("When did Maria Lopez buy the mill?", "1981"), ("Who bought the mill?", "Maria Lopez"))  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    builder = Builder()
    for language, passage in (("en", ENGLISH), ("es", SPANISH)):
        number = builder.passage(passage, language, f"squad2/{language}")
        for text, answer in ASKED:
            start = passage.index(answer)
            question = Question(
                text, "en", number, [(start, start + len(answer))], [answer], f"squad2/{language}", "mill"
            )
            question.language = language
            builder.corpus.questions.append(question)
    return builder.corpus


@pytest.fixture(scope="module")
def drawn(corpus: Corpus) -> list[Statement]:
    statements = Statements(corpus, seed=1)
    return [one for one in (statements.statement() for _ in range(1_500)) if one is not None]


def test_a_passage_and_its_translation_are_twins(corpus: Corpus) -> None:
    assert dict(twins(corpus)) == {0: [1], 1: [0]}
    assert counterpart(["A.", "It was 1974."], 1, ["B.", "Era 1974."]) == "Era 1974."
    assert counterpart(["A.", "It was 1974."], 1, ["B.", "Era 1980."]) is None


def test_half_of_the_statements_are_true(drawn: list[Statement]) -> None:
    assert 0.4 < sum(one.is_true for one in drawn) / len(drawn) < 0.6
    kinds = Counter(one.kind for one in drawn)
    assert {"close", "translation", "answer", "another answer", "roles", "attribute", "negation", "direction"} < set(
        kinds
    )


def test_no_statement_is_true_and_false_of_one_passage(drawn: list[Statement]) -> None:
    said: dict[tuple[str, str], set[bool]] = {}
    for one in drawn:
        said.setdefault((one.text, one.passage), set()).add(one.is_true)
    assert all(len(truths) == 1 for truths in said.values())


def test_the_same_seed_draws_the_same_examples_of_bounded_length(corpus: Corpus) -> None:
    first, second = (list(islice(Statements(corpus, seed=3), 30)) for _ in range(2))
    assert [one.ids.tolist() for one in first] == [one.ids.tolist() for one in second]
    assert max(len(one.ids) for one in first) <= LONGEST_STATEMENT + LONGEST_PASSAGE + 4


@pytest.mark.parametrize(
    ("statement", "kind", "made"),
    [
        ("In 1981 Maria Lopez bought the mill from Peter Wolf.", "roles",
         {"In 1981 Peter Wolf bought the mill from Maria Lopez."}),
        ("Peter Wolf built it.", "attribute", {"Maria Lopez built it.", "Ashford built it."}),
        ("The upper floor is larger.", "direction", {"The lower floor is larger.", "The upper floor is smaller."}),
        ("Some visitors say so.", "overstated", {"all visitors say so."}),
        ("It is open.", "negation", {"It is not open."}),
        ("It is not open.", "negation", {"It is open."}),
        ("It was built in 1974.", "changed", None),
    ],
)  # fmt: skip
def test_each_way_makes_its_kind_of_falsehood(statement: str, kind: str, made: set[str] | None) -> None:
    material = Material(ENGLISH, "en", ["Lisbon"], {})
    ways = [way for way, _ in WAYS]
    found = set()
    for seed in range(40):
        for way in ways:
            one = way(statement, material, random.Random(seed))
            if one and one.kind == kind:
                found.add(one.text)
    if made is None:
        assert found
        assert not any("1974" in text for text in found)
    else:
        assert found == made


def test_exchanged_in_the_passage_too_a_statement_is_true_again() -> None:
    material = Material(ENGLISH, "en", [], {})
    made = make_false("Peter Wolf sold it to Maria Lopez.", material, random.Random(2))
    assert made is not None
    assert made.exchanged
    assert exchange(exchange("a b", (("a", "b"), ("b", "a"))), (("a", "b"), ("b", "a"))) == "a b"
    assert names_of("The mill of Ashford. Maria Lopez bought it.") == ["Ashford", "Maria Lopez"]


@pytest.mark.parametrize(
    ("question", "answer", "language", "statement"),
    [
        ("When was the mill of Ashford built?", "1974", "en", "The mill of Ashford was built in 1974."),
        ("Who built the mill?", "Peter Wolf", "en", "Peter Wolf built the mill."),
        ("What is the name of the mill?", "Ashford", "en", "The name of the mill is Ashford."),
        ("How many people live there?", "40", "en", "40 people live there."),
        ("¿Quién construyó el molino?", "Peter Wolf", "es", "Peter Wolf construyó el molino."),
        ("¿En qué año abrió?", "1974", "es", "En 1974 abrió."),
        ("Quem comprou o moinho?", "Maria", "pt", "Maria comprou o moinho."),
        ("Onde fica o moinho?", "em Ashford", "pt", "Em Ashford fica o moinho."),
        ("Why did it close?", "Rain", "en", "Why did it close? Rain"),
    ],
)
def test_a_question_with_its_answer_becomes_a_statement(
    question: str, answer: str, language: str, statement: str
) -> None:
    made = {
        declarative(question, answer, language, ENGLISH, ["{question} {answer}"], random.Random(n)) for n in range(9)
    }
    assert statement in made
    assert made <= {statement, f"{question} {answer}"}
