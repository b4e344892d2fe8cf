"""What the reader is trained on: windows with answers where they are said to be, and forms of every kind."""

from __future__ import annotations

import itertools
import random

import pytest
from training.corpus import Builder, Corpus, Question, occurs
from training.dressing import Window, dress
from training.examples import DRESSING, LONGEST_QUESTION, WINDOW, Example, Examples
from training.questions import as_typed, with_another_name
from training.tables import table

from answerable.e5.encoder import Tokenizer
from answerable.e5.weights import ModelFile, model_path

POOL = (
    "The swimming pool of Riverside was built in 1974. It opens at half past seven in the morning. On Sundays it stays "
    "closed, since its water is changed then. Maria Lopez, who runs it, lives next door."
)
GYM = (
    "The gym of Riverside opens at six in the morning. Its trainer is Peter Wolf. Members pay forty euros a month, and "
    "guests five euros a visit. The showers are in the basement."
)
ASKED = (
    ("When does the pool of Riverside open?", POOL, "half past seven"),
    ("Who runs the pool?", POOL, "Maria Lopez"),
    ("Who is the trainer of the gym in Riverside?", GYM, "Peter Wolf"),
    ("What do guests pay for a visit of the gym?", GYM, "five euros"),
    ("Who painted the pool of Riverside?", POOL, ""),
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    builder = Builder()
    for text, passage, answer in ASKED:
        number = builder.passage(passage, "en", "town", "Riverside")
        spans = [(passage.index(answer), passage.index(answer) + len(answer))] if answer else []
        builder.corpus.questions.append(Question(text, "en", number, spans, [answer] * bool(answer), "town"))
    for question in builder.corpus.questions:
        question.near = [1 - question.passage]
        question.translations = {"es": f"¿{question.text}"}
    return builder.corpus


@pytest.fixture(scope="module")
def drawn(corpus: Corpus) -> list[Example]:
    return list(itertools.islice(Examples(corpus, seed=1), 600))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(ModelFile(model_path()))


def test_the_same_seed_draws_the_same_examples(corpus: Corpus, drawn: list[Example]) -> None:
    again = itertools.islice(Examples(corpus, seed=1), 20)
    assert [example.ids.tolist() for example in again] == [example.ids.tolist() for example in drawn[:20]]


def test_the_tokens_of_an_answer_are_an_answer(drawn: list[Example], tokenizer: Tokenizer) -> None:
    answers = {tuple(tokenizer.encode([answer])[0]) for _, _, answer in ASKED if answer}
    found = [tuple(each.ids[each.start : each.end + 1].tolist()) for each in drawn if each.answers]
    of_the_corpus = [span for span in found if span in answers]
    # The others are cells of made-up tables.
    assert len(of_the_corpus) > 0.9 * len(found) > 100
    assert set(of_the_corpus) == answers


def test_examples_are_of_both_kinds_and_of_bounded_length(drawn: list[Example]) -> None:
    answered = sum(example.answers for example in drawn) / len(drawn)
    assert 0.3 < answered < 0.7
    assert max(len(example.ids) for example in drawn) <= LONGEST_QUESTION + WINDOW + DRESSING + 4


def test_a_window_keeps_its_answer_in_every_form(corpus: Corpus) -> None:
    draw, passage = random.Random(3), corpus.passages[0]
    start = POOL.index("half past seven")
    window = Window("When does it open?", POOL, (start, start + len("half past seven")))
    cuts = [int(passage.tokens.starts[first]) for first, _ in passage.sentences]
    forms = [dress(window, passage, "en", cuts, draw) for _ in range(300)]
    kept = [form for form in forms if form.answer is not None]
    assert all(form.text[slice(*form.answer)] == "half past seven" for form in kept if form.answer)
    assert {True, False} == {form.text.startswith("Riverside") for form in forms}
    assert any("\n- " in form.text for form in forms)
    chats = [form for form in forms if ": It opens at" in form.text]
    assert any("said" in form.question or form.question.startswith("According to") for form in chats)
    # Another person's message doesn't answer what somebody said.
    assert any(form.answer is None for form in chats)
    # Nor is a question answered only because it asks what somebody said.
    unanswered = [dress(Window("When does it close?", POOL, None), passage, "en", cuts, draw) for _ in range(300)]
    assert any("said" in form.question or form.question.startswith("According to") for form in unanswered)
    assert all(form.answer is None for form in unanswered)


def test_a_window_mixed_with_another_language_keeps_its_answer() -> None:
    builder = Builder()
    builder.passage(POOL, "en", "town")
    builder.passage("La piscina abre por la mañana; los domingos está cerrada, porque el agua se cambia.", "es", "town")
    examples = Examples(builder.corpus, seed=1)
    start = POOL.index("half past seven")
    window = Window("When does it open?", POOL, (start, start + len("half past seven")))
    made = [examples.mixed(window, "en", "en") for _ in range(30)]
    assert all(each.answer and each.text[slice(*each.answer)].endswith("past seven") for each in made)
    assert any(" swimming pool de Riverside " in each.text for each in made)
    assert {"Cuándo", "Cuando", "Quando", "When"} == {each.question.split()[0] for each in made}


def test_another_name_is_one_of_the_passage(corpus: Corpus) -> None:
    draw = random.Random(1)
    found = with_another_name("Who runs the pool of Riverside?", POOL, ["Maria"], draw)
    assert found is None or occurs(["1974", "Lopez", "Sundays"], found)
    assert with_another_name("who runs it?", POOL, [], draw) is None


def test_questions_as_typed_keep_their_words() -> None:
    draw = random.Random(1)
    forms = {as_typed("¿Cuándo abre la piscina de Riverside?", draw) for _ in range(200)}
    assert "¿cuándo abre la piscina de riverside?" in forms
    assert "Cuándo abre la piscina de Riverside" in forms
    assert len(forms) > 10


def test_a_tables_answer_is_a_cell_and_a_missing_row_has_none() -> None:
    draw = random.Random(1)
    drawn = [table(draw) for _ in range(300)]
    assert {language for language, _ in drawn} == {"en", "es", "pt"}
    cells = [window.text[slice(*window.answer)] for _, window in drawn if window.answer]
    assert 100 < len(cells) < 280
    assert all(cell and not set(cell) & set("|\n") for cell in cells)
