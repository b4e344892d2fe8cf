"""The tools that a model may call while it answers a question from the library.

Tools see what the caller's filter passes, and only narrow it. What they found is text of documents: it is fenced as in
`prompt`, and bounded. All passages have one numbering. A document is named `d1`, `d2`, … in the order in which the
model first sees it, and a table `t1`, `t2`, …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice, zip_longest
from typing import Any

from answerable.answering.decide import Budgets, Parts, PlannedTable
from answerable.answering.found import Asked, ComputedPassage, Found
from answerable.answering.prompt import enclosed, fence_one, file_of, fitting, harmless, on_one_line
from answerable.answering.search import search
from answerable.answering.writing.arguments import WrongArguments, read_arguments
from answerable.datatypes import Document, RetrievalResult
from answerable.errors import FilterError
from answerable.filters import both, comparable, normalize, parse_filter
from answerable.protocols import ChatModel, StoredDocument, Tool, ToolCall
from answerable.providers.usage import count_tokens
from answerable.retrieval.visible import PROBED, hidden_messages, is_of_passages, visible_chunks, visible_documents

QUERIES = 4
"""Queries of one search: three further ones found 30 of 30 answers where one query found 24 (the protocol's trial)."""
SHOWN = 10
"""Passages of a search in all. With 25 of one query, no more answers were found than with 10 (the same trial)."""
LISTED = 40  # documents, about a screen; a guess, not measured
LONGEST_QUERY = 400  # characters, more than a question has; a round number, not measured
TABLES = 8  # tables that are described at once, each in some lines; a guess, not measured
LONGEST_TABLES = 12_000  # characters of their descriptions, some 4,000 tokens; a guess, not measured
LONGEST_PROBLEM = 600  # characters of what a tool says is wrong, some lines; a guess, not measured
FILTERS = 8  # conditions of a plan, more than questions have; a guess, not measured

# Characters of names and days, and the largest numbers of parts and rows: more than there are; guesses, not measured.
_NAME = {"type": "string", "maxLength": 200}
_DOCUMENT = {"type": "string", "maxLength": 20, "description": "a document's name as its passages show it, such as d1"}
_DAY = {"type": "string", "maxLength": 40, "description": "a day as 2024-03-31"}
_PART = {"type": "integer", "minimum": 1, "maximum": 1_000_000_000}


def _schema(required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_CONDITION = _schema(
    ("column", "op"),
    column=_NAME,
    op={"type": "string", "enum": ["=", "!=", "<", "<=", ">", ">=", "contains", "empty"]},
    value={
        **_NAME,
        "description": "a number, a day, month or year as 2024-03-31, or words; for empty true or false",
    },
)
_OPERATION = _schema(
    ("name",),
    name={"type": "string", "enum": ["count", "distinct", "sum", "average", "most", "least", "list"]},
    column=_NAME,
)
TOOLS = (
    Tool(
        "search",
        "Search the library. Each query is searched alone: write each in other words, in the words and the languages "
        "that the documents may use. Returns passages that weren't shown before, and the numbers of those that were.",
        _schema(
            ("queries",),
            queries={
                "type": "array",
                "minItems": 1,
                "maxItems": QUERIES,
                "items": {"type": "string", "maxLength": LONGEST_QUERY},
            },
            document={**_DOCUMENT, "description": "search only this document, such as d1"},
            **{
                "from": {**_DAY, "description": "only messages and mails from this day on, as 2024-03-31"},
                "to": {
                    **_DAY,
                    "description": "only messages and mails up to this day; documents without a date are left out",
                },
            },
        ),
    ),
    Tool(
        "read",
        "Read on in a document, before or after a passage. Its parts are numbered from 1, as the passages show.",
        _schema(("document",), document=_DOCUMENT, **{"from": _PART, "to": _PART}),
    ),
    Tool(
        "list_documents",
        "List documents of the library with their names for the other tools, types, dates and numbers of parts.",
        _schema(filter={**_NAME, "description": "words that a document's title or path has"}),
    ),
    Tool(
        "table",
        "Compute from the rows of a table, or from the messages of a chat. Without an operation, it lists the tables "
        "near the question with their columns; with a document's name, those of that document. "
        "count: rows, or those with a value in the column; distinct: different values of the column; sum and average "
        "of numbers; most and least: the rows with the greatest and the smallest number or date; list: the rows. "
        "With group, one figure for each value of that column, greatest first, dates in order. "
        "!= also keeps rows with an empty cell.",
        _schema(
            table={"type": "string", "maxLength": 20, "description": "a table's name such as t1, or a document's"},
            filters={"type": "array", "maxItems": FILTERS, "items": _CONDITION},
            group=_NAME,
            period={"type": "string", "enum": ["day", "month", "year"], "description": "by which dates are grouped"},
            operation=_OPERATION,
            limit={"type": "integer", "minimum": 1, "maximum": 100, "description": "rows or groups at most"},
        ),
    ),
)


class Toolbox:
    """The tools of one question, and the passages that they found, numbered from 1.

    `passages` has all that was shown, no passage twice; `computed` the results of `table`, by document id.
    """

    def __init__(self, asked: Asked, found: Found, parts: Parts) -> None:
        writer = parts.answering.writer
        model = writer.model if writer else None
        self.passages: list[RetrievalResult] = []
        self.computed: dict[str, ComputedPassage] = {}
        self._asked = asked
        self._parts = parts
        self._where = parse_filter(asked.where)
        self._budget = (writer.budgets if writer else Budgets()).context
        self._count = model.count_tokens if isinstance(model, ChatModel) else partial(count_tokens, model="")
        self._numbers: dict[tuple[str, str], int] = {}
        self._documents: dict[tuple[str, str], str] = {}
        self._tables: dict[str, PlannedTable] = {}
        self._run: Mapping[str, Callable[[dict[str, Any]], str]] = {
            "search": self._search,
            "read": self._read,
            "list_documents": self._list,
            "table": self._table,
        }
        self.add(found.results)

    def call(self, call: ToolCall) -> str:
        """Return the result of a call as text for the model; for wrong arguments, a line that says what to give.

        Raise ProviderError if the embedder fails.
        """
        tool = next((each for each in TOOLS if each.name == call.name), None)
        try:
            if tool is None:
                raise WrongArguments(f"there is no such tool: call {', '.join(self._run)}")
            return self._run[tool.name](read_arguments(call.arguments, tool.parameters))
        except (WrongArguments, FilterError) as error:
            name = f"{tool.name}: " if tool else ""
            return f"{name}{' '.join(harmless(str(error)).split())[:LONGEST_PROBLEM]}"

    def add(self, results: Iterable[RetrievalResult]) -> list[int]:
        """Return the numbers of these passages; those that are new are appended."""
        found = []
        for result in results:
            key = _id(result)
            if key not in self._numbers:
                self.passages.append(result)
                self._numbers[key] = len(self.passages)
                if result.document.id not in self.computed:
                    self._name(result.document)
            found.append(self._numbers[key])
        return found

    def add_computed(self, computed: ComputedPassage) -> int:
        """Return the number of a computed passage, appended if it is new."""
        self.computed[computed.result.document.id] = computed
        return self.add([computed.result])[0]

    def shown(self, numbers: Iterable[int]) -> str:
        """Return the passages with these numbers, each in a tag with the name of its document and its part.

        Messages that the filter doesn't pass are left out of a chat's passages.
        """
        found = ((number, self.passages[number - 1]) for number in numbers)
        names = self._documents
        return "\n\n".join(
            fence_one(number, each, names.get(_key(each.document), ""), hidden_messages(each, self._where))
            for number, each in found
        )

    def _search(self, given: dict[str, Any]) -> str:
        conditions: list[dict[str, Any]] = []
        within = self._known(given["document"]) if "document" in given else None
        if within:
            conditions.append({"document_id": within[1]})
        if days := {bound: given[name] for bound, name in (("gte", "from"), ("lte", "to")) if name in given}:
            conditions.append({"date": days})
        where = both(self._asked.where, {"and": conditions}) if conditions else self._asked.where
        queries = list(dict.fromkeys(query.strip() for query in given["queries"]))
        if not all(queries):
            raise WrongArguments("a query is empty: give words to search for")
        found = [self.found_by(query, where) for query in queries]
        # An id is compared without case by a filter, and two libraries may each have a document with it.
        kept = [[each for each in one if within in (None, _key(each.document))] for one in found]
        return self._told(list(islice(interleaved(kept), SHOWN)))

    def found_by(self, query: str, where: Mapping[str, Any] | None) -> Sequence[RetrievalResult]:
        """Return the passages that a search for this query finds, best first; they aren't numbered."""
        vector = self._parts.embedder.embed_query(query)
        asked = replace(self._asked, message=query, question=query, vector=vector, where=where, narrowed=None)
        return search(asked, None, self._parts, SHOWN).results

    def _told(self, results: Sequence[RetrievalResult]) -> str:
        """Return the new ones among these passages, as many as fit in the budget, and the numbers of the others."""
        if not results:
            return "Nothing was found: try other words, another language, or without the document and the dates."
        again = [self._numbers[_id(each)] for each in results if _id(each) in self._numbers]
        new = [each for each in results if _id(each) not in self._numbers]
        numbers = self.add(self._fitting(new))
        lines = [f"Found again: passages {', '.join(map(str, again))}."] if again else []
        if len(numbers) < len(new):
            lines.append(f"{len(new) - len(numbers)} more are too long to show here: search for them alone.")
        return "\n\n".join(filter(None, (" ".join(lines), self.shown(numbers) or "Nothing else was found.")))

    def _fitting(self, results: Sequence[RetrievalResult]) -> Sequence[RetrievalResult]:
        return fitting(results, self._count, self._budget) if results else ()

    def _read(self, given: dict[str, Any]) -> str:
        name = given["document"]
        parts = self.parts_of(name)
        if not parts:
            raise WrongArguments(f"{name} has no parts any more: it was removed")
        last = parts[-1].chunk.sequence + 1
        first, until = given.get("from", 1), given.get("to", last)
        wanted = [each for each in parts if first <= each.chunk.sequence + 1 <= until]
        if not wanted:
            raise WrongArguments(f"{name} has parts 1 to {last}: give from and to within these, from first")
        new = [each for each in wanted if _id(each) not in self._numbers]
        fit = self._fitting(new)
        lines = [f"{name} has parts 1 to {last}."]
        if len(fit) < len(new):
            until = new[len(fit)].chunk.sequence
            lines.append(f"Not all fit here: read on from part {until + 1}.")
        seen = [each for each in wanted if each.chunk.sequence + 1 <= until and _id(each) in self._numbers]
        if seen:
            again = (f"{self._numbers[_id(each)]} (part {each.chunk.sequence + 1})" for each in seen)
            lines.append(f"Shown before: passages {', '.join(again)}.")
        return "\n\n".join(filter(None, (" ".join(lines), self.shown(self.add(fit)))))

    def parts_of(self, name: str) -> list[RetrievalResult]:
        """Return the passages of a named document that the caller may see, in order. Raise WrongArguments."""
        library, id = self._known(name)
        store = self._parts.store
        document = store.document(id)
        if document is None:
            return []
        # As in the results of a search, which have no parts. The name of the library is the one that was shown.
        bare = replace(document, parts=(), library=library)
        return [RetrievalResult(chunk, 0.0, bare) for chunk in visible_chunks(store, id, self._where)]

    def _list(self, given: dict[str, Any]) -> str:
        words = str(normalize(given.get("filter", ""))).split()
        stored = self._parts.store.documents()
        named = [each for each in stored if all(word in _folded(each.title, each.source) for word in words)]
        found = list(visible_documents(self._parts.store, named, self._where))
        if not found:
            return f"No document {'has these words in its title or path' if words else 'can be seen'}."
        is_part = len(named) > PROBED and self._where is not None and is_of_passages(self._where)
        lines = [self._listed(each) for each in found[:LISTED]]
        more = f" These are the first {LISTED}: a filter shows others." if len(found) > LISTED else ""
        many = f"Documents: {'at least ' if is_part else ''}{len(found)}."
        return f"{many}{more}\n\n{enclosed('documents', chr(10).join(lines))}"

    def _listed(self, document: StoredDocument) -> str:
        parts = f"{document.chunks} part{'s' * (document.chunks != 1)}"
        facts = (self._name(document), document.title, file_of(document), document.type, _dates(document), parts)
        return " · ".join(dict.fromkeys(filter(None, map(on_one_line, facts))))

    def _table(self, given: dict[str, Any]) -> str:
        name = given.get("table", "").strip().lower()
        if name and name not in {*self._tables, *self._documents.values()}:
            raise WrongArguments(
                "no table has this name: call table without arguments for the tables near the question"
            )
        names = [name] if name in self._tables else self._tables_near(name)
        if not names:
            return "There is no table" + (f" in {name}." if name else " near the question.")
        if "operation" not in given or not name or len(names) > 1:
            return self._described(names)
        computed = self._tables[names[0]].compute(given, self._asked.language)
        if isinstance(computed, str):
            return f"table: nothing was computed.\n\n{enclosed('problem', computed[:LONGEST_PROBLEM])}"
        return self.shown([self.add_computed(computed)])

    def tables(self) -> str:
        """Return a description of the tables in the documents that were shown; "" if they have none."""
        names = self._tables_near("", only=True)
        return self._described(names) if names else ""

    def _tables_near(self, document: str, only: bool = False) -> list[str]:
        """Return the names of the tables of a document, or else of those near the question."""
        figures, near = self._parts.figures(), dict.fromkeys(each.document.id for each in self.passages)
        if document:
            found = figures.tables([self._known(document)[1]], self._where, only=True)
        else:
            found = figures.tables([id for id in near if id not in self.computed], self._where, only)
        names = {table.id: name for name, table in self._tables.items()}
        for table in found[:TABLES]:
            name = names.setdefault(table.id, f"t{len(self._tables) + 1}")
            self._tables[name] = table
        return [names[table.id] for table in found[:TABLES]]

    def _described(self, names: Sequence[str]) -> str:
        lines = "\n".join(f"{name}: {self._tables[name].description}" for name in names)[:LONGEST_TABLES]
        others = " There may be others: name a document." if len(names) == TABLES else ""
        return f"Tables, for the tool table:{others}\n\n{enclosed('tables', lines)}"

    def _name(self, document: Document | StoredDocument) -> str:
        return self._documents.setdefault(_key(document), f"d{len(self._documents) + 1}")

    def _known(self, name: str) -> tuple[str, str]:
        """Return the library and the id of the document with this name."""
        for key, own in self._documents.items():
            if own == name.strip().lower():
                return key
        known = f"d1 to d{len(self._documents)}" if self._documents else "none yet"
        raise WrongArguments(f"no document has this name; known are {known}: search, or call list_documents")


def _key(document: Document | StoredDocument) -> tuple[str, str]:
    return document.library, document.id


def _id(result: RetrievalResult) -> tuple[str, str]:
    return result.document.library, result.chunk.id


def interleaved(found: Iterable[Sequence[RetrievalResult]]) -> Iterator[RetrievalResult]:
    """Yield the first of each search, then the second of each, and so on, none twice."""
    ranked = (each for rank in zip_longest(*found) for each in rank if each is not None)
    return iter({_id(each): each for each in ranked}.values())


def _folded(*texts: str) -> str:
    return str(normalize("\n".join(texts)))


def _dates(document: StoredDocument) -> str:
    """Return the first and the last day of a document's messages, or its date; "" without dates."""
    moments = (comparable(str(document.metadata.get(name, ""))) for name in ("first_day", "last_day", "date"))
    days = dict.fromkeys(f"{each:%Y-%m-%d}" for each in moments if isinstance(each, datetime))
    return " to ".join(days)
