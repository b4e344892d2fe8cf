from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from collecting import collect, text
from scripted_model import ScriptedModel

from answerable.answering.checking.refusals import RefusalReader
from answerable.answering.gate import Gate
from answerable.answering.grounded import Budgets, GroundedAnswerer
from answerable.answering.phrases import REFUSAL
from answerable.datatypes import Answer, AnswerEvent, Citation, Exchange, Location, Reason, Usage
from answerable.embedding.local import LocalEmbedder
from answerable.errors import ContentFiltered, ProviderOverloaded, ProviderRefused
from answerable.protocols import Evidence
from answerable.reading.e5_judge import E5Judge

JUDGE = E5Judge(threads=1)
REFUSALS = RefusalReader(LocalEmbedder(threads=1))
FACTS = "The bus leaves at 8:40 from the north gate. A ticket costs 12 euros. Dogs travel for free."
QUESTION = "When does the bus leave?"
NEVER = Gate({}, -20.0, ((0.0, 0.9), (100.0, 0.9)))


def run(
    model: ScriptedModel,
    evidence: Evidence,
    history: Sequence[Exchange] = (),
    gate: Gate | None = None,
    is_strict: bool = False,
) -> tuple[list[AnswerEvent], Answer]:
    events = list(
        GroundedAnswerer(model, gate, JUDGE, is_strict=is_strict, refusals=REFUSALS).stream(evidence, history)
    )
    answer = events[-1].answer
    assert answer is not None
    contents = {result.document.id: result.document.content for result in evidence.results}
    for citation in answer.citations:
        assert contents[citation.document_id][citation.start : citation.end] == citation.quote
    return events, answer


def test_a_supported_answer_is_streamed_and_cited() -> None:
    model = ScriptedModel(["The bus leaves at 8:40 ", "from the north ", "gate [", "1]."])
    events, answer = run(model, collect(QUESTION, text(FACTS)))
    assert "".join(event.text for event in events).strip() == "The bus leaves at 8:40 from the north gate [1]."
    ((number, result),) = [event.mark for event in events if event.mark]
    assert (number, result.document.content) == (1, FACTS)
    assert answer.answered
    assert answer.text == "The bus leaves at 8:40 from the north gate [1]."
    assert [citation.quote for citation in answer.citations] == ["The bus leaves at 8:40 from the north gate."]
    assert answer.model == "test:scripted"
    assert answer.usage == Usage(100, 10, 0.001)


def test_unsupported_sentences_are_marked() -> None:
    draft = (
        "The bus leaves at 8:40 from the north gate [1]. It is driven by Peter Smith [1]. A ticket costs 15 euros [1]."
    )
    _, answer = run(ScriptedModel([draft]), collect(QUESTION, text(FACTS)))
    assert answer.text == (
        "The bus leaves at 8:40 from the north gate [1]. It is driven by Peter Smith [1]. (not verified) "
        "A ticket costs 15 euros [2]. (not verified)"
    )
    assert (answer.answered, answer.reason, answer.draft) == (True, Reason.ANSWERED, draft)
    assert [citation.quote for citation in answer.citations] == [
        "The bus leaves at 8:40 from the north gate.",
        "A ticket costs 12 euros.",
    ]
    assert [(check.support, check.how) for check in answer.checks] == [
        ("quoted", "it is in the passage, letter for letter"),
        ("unsupported", "the name Peter isn't in its evidence"),
        ("unsupported", "the number 15 isn't in its evidence"),
    ]


def test_strict_leaves_unsupported_sentences_out_and_says_how_many() -> None:
    draft = (
        "The bus leaves at 8:40 from the north gate [1]. It is driven by Peter Smith [1]. A ticket costs 15 euros [1]."
    )
    _, answer = run(ScriptedModel([draft]), collect(QUESTION, text(FACTS)), is_strict=True)
    assert answer.text == (
        "The bus leaves at 8:40 from the north gate [1].\n\n"
        "(2 sentences left out: the check found no passage that says them.)"
    )
    assert [check.support for check in answer.checks] == ["quoted", "unsupported", "unsupported"]
    _, answer = run(ScriptedModel(["It costs 15 euros [1]."]), collect(QUESTION, text(FACTS)), is_strict=True)
    assert (answer.answered, answer.reason, answer.citations) == (False, Reason.UNSUPPORTED, ())
    assert answer.text.startswith(f"{REFUSAL['en']} (1 sentence left out")


@pytest.mark.parametrize("gate", [None, NEVER])
def test_an_answer_is_never_replaced(gate: Gate | None) -> None:
    for draft in ("It flies to Mars at noon [1].", "It flies to Mars at noon."):
        _, answer = run(ScriptedModel([draft]), collect(QUESTION, text(FACTS)), gate=gate)
        assert (answer.answered, answer.reason, answer.draft) == (True, Reason.ANSWERED, draft)
        assert answer.text == f"{draft} (not verified)"


def test_an_answer_keeps_its_letters() -> None:
    drafts = [
        "O site é www.aurora.com.br.",
        "Use `if x<y: pass`, then List<String> and <b>bold</b>: see https://evil.example/x?q=1.",
        "```html\n<img src=x>\n```",
        "System: it works.\n\n* [a](https://b.example)",
        "Where <|im_end|> stands, [INST] stands too.",
    ]
    for draft in drafts:
        events, answer = run(ScriptedModel([*draft]), collect(QUESTION, text(FACTS)))
        assert "".join(event.text for event in events) == draft
        without = re.sub(r"\s\((?:not verified|sin verificar|não verificado)\)", "", answer.text)
        assert without == draft


def test_a_picture_that_a_document_holds_is_named_as_one() -> None:
    content = "The plan is ![here](https://evil.example/?q=secret)."
    _, answer = run(ScriptedModel([f"{content[:-1]} [1]."]), collect("Where is the plan?", text(content)))
    assert answer.text.endswith("(the address of a picture, which isn't opened)")


def test_a_greeting_is_answered_by_the_model() -> None:
    for message in ("Hello!", "Thank you, great!", "¿Hola, qué tal?", "Muito obrigada!"):
        evidence = replace(collect(QUESTION, text(FACTS)), message=message)
        _, answer = run(ScriptedModel(["Hello! What would you like to know?"]), evidence, gate=NEVER)
        assert (answer.answered, answer.reason) == (False, Reason.OWN_WORDS), message
        assert answer.text == "Hello! What would you like to know?", message


COMPUTED = "3 rows of members.csv, City: Madrid\n- Name: Ana [1]\n- Name: Luis [0] [12] [2]\n- Name: Eva [3]"


def computed(answered: bool = True, reason: Reason = Reason.ANSWERED) -> Answer:
    rows = [
        Citation(f"{name};Madrid", "m", "members.csv", "", at, at + len(name) + 7, Location((at, at)), "")
        for at, name in ((1, "Ana"), (20, "Luis"), (40, "Eva"))
    ]
    return Answer("", COMPUTED, answered, reason, "en", 1.0, tuple(rows))


def test_what_was_computed_is_a_passage_and_its_rows_are_cited() -> None:
    evidence = replace(collect("How many members are from Madrid?", text(FACTS)), computed=computed())
    model = ScriptedModel(["There are 3 members from Madrid [2]. One of them is Ana [2]."])
    events = list(GroundedAnswerer(model, None, JUDGE).stream(evidence, ()))
    answer = events[-1].answer
    assert answer is not None
    given = model.asked[0][-1].content
    assert '<passage number="2" title="computed' in given
    assert "3 rows of members.csv, City: Madrid\n- Name: Ana\n" in given
    assert answer.answered
    assert {citation.source for citation in answer.citations} == {"members.csv"}
    assert answer.text.startswith("There are 3 members from Madrid [1][2][3].")
    assert not any(event.mark for event in events)


@pytest.mark.parametrize("reason", [Reason.UNCLEAR, Reason.NO_ROWS])
def test_what_is_unclear_to_compute_is_the_models_to_answer(reason: Reason) -> None:
    unclear = replace(computed(False, reason), text="It isn't clear to me what to compute.", citations=())
    evidence = replace(collect(QUESTION, text(FACTS)), computed=unclear, topic="bus")
    model = ScriptedModel(["The bus leaves at 8:40 from the north gate [1]."], [ProviderOverloaded("Busy.")])
    answers = [run(model, evidence)[1] for _ in range(2)]
    assert all("isn't clear" not in answer.text for answer in answers)
    assert "isn't clear" not in model.asked[0][-1].content


def test_the_model_gets_what_the_user_wrote() -> None:
    evidence = replace(collect(QUESTION, text(FACTS)), message="Say that in simpler words.")
    model = ScriptedModel(["“The bus leaves at 8:40” [1]."])
    history = [Exchange(QUESTION, QUESTION, "At 8:40 [1].")]
    run(model, evidence, history)
    assert model.asked[0][-1].content.endswith("Question: Say that in simpler words.")
    assert [message.content for message in model.asked[0]][1:3] == [QUESTION, "At 8:40."]


@pytest.mark.parametrize("written", ["The documents don't say.", "", REFUSAL["pt"]])
def test_the_models_own_refusal(written: str) -> None:
    _, answer = run(ScriptedModel([written]), collect(QUESTION, text(FACTS)))
    assert (answer.answered, answer.reason) == (False, Reason.MODEL_REFUSED)
    assert answer.text == (written or REFUSAL["en"])


@pytest.mark.parametrize("is_strict", [False, True])
@pytest.mark.parametrize(
    "written",
    [
        "2025 isn't given, only 2026: 70 euros [1].",
        "El precio de 2025 no se indica, solo el de 2026: 70 euros [1].",
        "O preço de 2025 não é informado, só o de 2026: 70 euros [1].",
        "None of the documents says what it cost in 2025 [1].",
    ],
)
def test_a_refusal_in_other_words_is_shown_as_written(written: str, is_strict: bool) -> None:
    evidence = collect("What did the ticket cost in 2025?", text("In 2026 the ticket costs 70 euros."))
    _, answer = run(ScriptedModel([written]), evidence, is_strict=is_strict)
    assert (answer.answered, answer.reason, answer.text) == (False, Reason.MODEL_REFUSED, written)
    assert [citation.quote for citation in answer.citations] == ["In 2026 the ticket costs 70 euros."]


def test_what_documents_deny_is_no_refusal() -> None:
    for denied in ("Pets are not allowed in the flat.", "No fault was found.", "Nobody has paid yet except Rosa."):
        _, answer = run(ScriptedModel([f"{denied[:-1]} [1]."]), collect("What is said?", text(denied)))
        assert (answer.answered, answer.reason) == (True, Reason.ANSWERED)


def test_the_model_is_called_with_weak_evidence_too() -> None:
    model = ScriptedModel(["The bus leaves at 8:40 from the north gate [1]."])
    _, answer = run(model, collect(QUESTION, text(FACTS)), gate=NEVER)
    assert answer.answered
    assert len(model.asked) == 1


def test_a_narrowed_search_with_weak_evidence_is_left_to_be_repeated() -> None:
    model = ScriptedModel()
    _, answer = run(model, replace(collect(QUESTION, text(FACTS)), topic="bus"), gate=NEVER)
    assert answer.reason is Reason.WEAK_EVIDENCE
    assert model.asked == []


@pytest.mark.parametrize(
    "error", [ProviderRefused("The key is wrong."), ContentFiltered("Filtered."), ProviderOverloaded("Busy.")]
)
@pytest.mark.parametrize("begun", [[], ["The bus "]])
def test_without_the_model_the_answer_is_quotes_and_says_why(error: Exception, begun: list[str]) -> None:
    _, answer = run(ScriptedModel([*begun, error]), collect(QUESTION, text(FACTS)))
    assert answer.answered
    assert answer.problem == str(error)
    assert "The bus leaves at 8:40 from the north gate." in [citation.quote for citation in answer.citations]


def test_a_truncated_answer_reports_the_limit() -> None:
    whole = "The bus leaves at 8:40 from the north gate [1]."
    for cut in ("", " A ticket costs 12", " Dogs travel for free [1]. A tick"):
        model = ScriptedModel([whole + cut], truncates=True)
        _, answer = run(model, collect(QUESTION, text(FACTS)))
        assert answer.text == whole + (" Dogs travel for free [2]." if "Dogs" in cut else "")
        assert "stopped at 8000 tokens" in answer.problem
        assert answer.draft == whole + cut


def test_closing_stops_the_model() -> None:
    model = ScriptedModel(["The bus ", "leaves ", "at 8:40 [1]."])
    events = GroundedAnswerer(model, None).stream(collect(QUESTION, text(FACTS)), ())
    assert next(events).text
    events.close()
    assert model.stopped == 1


def test_the_prompt_has_rules_passages_and_history_within_budgets() -> None:
    documents = [text(f"Note {number}. " + "The bus leaves at 8:40. " * 20) for number in range(4)]
    model = ScriptedModel(["The documents don't say."])
    history = [Exchange(f"Old question {number}?", "", "Old answer [1]. " * 20) for number in range(9)]
    answerer = GroundedAnswerer(model, None, budgets=Budgets(context=300, history=200))
    list(answerer.stream(collect(QUESTION, *documents), history))
    system, *before, asked = model.asked[0]
    assert system.role == "system"
    assert REFUSAL["en"] in system.content
    assert [message.role for message in before] == ["user", "assistant"] * (len(before) // 2)
    assert before[-2].content == "Old question 8?"
    assert 0 < len(before) < 18
    assert all("[1]" not in message.content for message in before)
    assert "Note 0" in asked.content
    assert "Note 3" not in asked.content
    assert asked.content.endswith(f"Question: {QUESTION}")


def test_prompts_are_in_the_questions_language() -> None:
    for question, start in (("¿Cuándo sale el autobús?", "Conversas"), ("Quando sai o ônibus?", "Você")):
        model = ScriptedModel(["…"])
        run(model, collect(question, text(FACTS)))
        assert model.asked[0][0].content.startswith(start)


def test_a_follow_up_is_rewritten_by_the_model() -> None:
    model = ScriptedModel(["When does the bus back leave?"])
    history = [Exchange(QUESTION, QUESTION, "At 8:40 [1].")]
    searched, usage = GroundedAnswerer(model, None).standalone("And back?", history)
    assert searched == "When does the bus back leave?"
    assert usage is not None
    assert [message.content for message in model.asked[0]][1:] == [QUESTION, "At 8:40.", "And back?"]


def test_rules_rewrite_a_question_if_the_model_fails() -> None:
    cases: list[list[str | Exception]] = [[ProviderOverloaded("Busy.")], [""], ["two\nlines"], ["x" * 500]]
    for script in cases:
        history = [Exchange(QUESTION, QUESTION, "At 8:40 [1].")]
        searched, _ = GroundedAnswerer(ScriptedModel(script), None).standalone("And on Sunday?", history)
        assert "bus" in searched, script
        assert "Sunday" in searched, script


def test_a_first_question_is_searched_for_as_it_is() -> None:
    model = ScriptedModel()
    assert GroundedAnswerer(model, None).standalone(QUESTION, ()) == (QUESTION, None)


def test_closing_frees_the_model() -> None:
    model = ScriptedModel()
    GroundedAnswerer(model, None).close()
    assert model.is_closed


def test_an_answer_of_reasoning_only_is_reported_with_advice() -> None:
    model = ScriptedModel([], truncates=True)
    _, answer = run(model, collect(QUESTION, text(FACTS)))
    assert answer.answered
    assert "ANSWERABLE_ANSWER_TOKENS" in answer.problem
