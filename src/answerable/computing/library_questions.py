"""Answer questions about the library itself: how many documents, which of them mention something, who is in a chat."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from answerable.answering.citations import cite_spans
from answerable.computing.asked import EDGES, counted_of_library, is_of_everything, library_form, listing
from answerable.computing.vocabulary import documents_named, name_of, word_lists
from answerable.datatypes import Answer, Citation, Document, DocumentType, PartKind, Reason, Span
from answerable.formats.locate import without_marks
from answerable.protocols import IndexedChunk, Store, StoredDocument
from answerable.retrieval.times import fold_in_place
from answerable.tables.entries import chat_statistics
from answerable.text.terms import question_words, words

SHOWN = 40  # documents that are listed: about a screen; a guess, not measured
LONGEST_LINE = 120  # characters of the line that introduces a document: about a line; a guess, not measured
LOOKED_AT = 5_000
"""How many passages with a word are searched for the documents that mention it. A round number, not measured."""

_LINE = re.compile(r"[^\s#>|\-=*`][^\n]{3,}")
_SENTENCE = re.compile(r"(?m)^(?![ \t]*[#|<`~])[ \t]*(?:[>*-] )?(?P<text>(?:[^\s]+ ){5}[^\n]*)")
_WORDS = re.compile(r"(?:[^\s]+ ){4}[^\n]*")
_SMALL = re.compile(r"^(?:(?:the|a|an|el|la|los|las|un|una|o|os|as|um|uma|de|del|do|da)\s+)+")


class LibraryQuestion:
    """A question that may be about the library; `documents` are those that may be used to answer."""

    def __init__(self, store: Store, question: str, language: str, documents: Sequence[StoredDocument]) -> None:
        said = word_lists("library")["said"]
        self._store = store
        self._question = question
        self._folded = fold_in_place(question).strip(EDGES)
        self._language = language if language in said else "en"
        self._said = said[self._language]
        self._documents = documents

    def answer(self) -> Answer | None:
        """Return the answer, or None if the question isn't about the library."""
        return self._mentions() or self._contents() or self._people() or self._count()

    def _mentions(self) -> Answer | None:
        if match := library_form("mention", self._folded):
            start, end = match.span(next(name for name in ("what", "where", "subject") if match[name]))
        elif (listed := listing(self._folded)) and listed[1]:
            start, end = listed[1]
        else:
            return None
        what = self._question[self._question.find(self._question.strip(EDGES)) :][start:end].strip(EDGES)
        if not (plain := _SMALL.sub("", what)):
            return None
        found = self._documents_with(plain)
        if not found:
            text = self._said["nothing"].format(what=f"“{plain}”")
            return Answer(self._question, text, False, Reason.NOTHING_FOUND, self._language, 0.0)
        one, several = self._said["mention"]
        line = (one if len(found) == 1 else several).format(n=len(found), what=f"“{plain}”")
        lines, citations = [], []
        for document, chunks in found[:SHOWN]:
            once, often = self._said["times"]
            times = once if len(chunks) == 1 else often.format(n=len(chunks))
            lines.append(f"{name_of(document)}: {times}")
            citations.append(_first_mention(document, chunks[0], plain))
        return self._answered(line, lines, citations, len(found) - len(lines))

    def _documents_with(self, what: str) -> list[tuple[Document, list[IndexedChunk]]]:
        """Return the documents with all of these words, in order, and their passages with most of the words."""
        languages = [language for language in self._store.languages() if language]
        asked = question_words(what, self._language, languages) or [frozenset({word}) for word in words(what)]
        terms = sorted(frozenset[str]().union(*asked))
        allowed = {document.id for document in self._documents}
        numbers = [number for number, _ in self._store.search_terms(terms, LOOKED_AT, None)]
        having: dict[str, list[tuple[set[frozenset[str]], IndexedChunk, Document]]] = defaultdict(list)
        for chunk, document in self._store.fetch(numbers).values():
            if document.id in allowed:
                has = {word for word in asked if not word.isdisjoint(chunk.terms)}
                having[document.id].append((has, chunk, document))
        found = []
        for passages in having.values():
            if len(set().union(*(has for has, _, _ in passages))) == len(set(asked)):
                most = max(len(has) for has, _, _ in passages)
                chunks = [chunk for has, chunk, _ in passages if len(has) == most]
                found.append((passages[0][2], sorted(chunks, key=lambda each: each.chunk.sequence)))
        return sorted(found, key=lambda pair: (-len(pair[1]), pair[0].source))

    def _contents(self) -> Answer | None:
        if listed := listing(self._folded):
            return self._listed([each for each in self._documents if listed[0] in ("", each.type)])
        return self._listed(self._documents) if is_of_everything(self._folded) else None

    def _listed(self, documents: Sequence[StoredDocument]) -> Answer:
        one, several = self._said["documents_noun"]
        counted = one if len(documents) == 1 else several.format(n=len(documents))
        lines, citations = [], []
        for each in documents[:SHOWN]:
            if (document := self._store.document(each.id)) and (citation := _beginning(document)):
                quote = without_marks(document, citation.start, citation.end)
                lines.append(f"{name_of(each)}: “{' '.join(quote.split())}”")
                citations.append(citation)
        return self._answered(self._said["documents"].format(n=counted), lines, citations, len(documents) - len(lines))

    def _people(self) -> Answer | None:
        match = library_form("people", self._folded)
        chats = [each for each in self._documents if each.type == DocumentType.CHAT]
        if match is None or not chats:
            return None
        chosen = documents_named(next(filter(None, match.groups()), ""), chats)
        lines, citations = [], []
        for each in chosen if 0 < len(chosen) < len(chats) else chats:
            document = self._store.document(each.id)
            statistics = chat_statistics(document) if document else None
            if document is None or statistics is None:
                continue
            firsts = {
                part.sender: (part.start, part.end)
                for part in reversed(document.parts)
                if part.kind is PartKind.MESSAGE and part.sender
            }
            cited = cite_spans(document, (firsts[sender] for sender in statistics.by_sender))
            one, several = self._said["messages"]
            shown = [
                f"{sender}: {one if count == 1 else several.format(n=count)}"
                for sender, count in statistics.by_sender.items()
            ]
            lines += [f"{line} ({name_of(each)})" for line in shown] if len(chats) > 1 else shown
            citations += cited
        people = len({line.partition(":")[0] for line in lines})
        apps = dict.fromkeys(str(each.metadata.get("app") or "WhatsApp") for each in chats)
        name = name_of(chosen[0]) if len(chosen) == 1 else name_of(chats[0]) if len(chats) == 1 else ", ".join(apps)
        return self._answered(self._said["people"].format(name=name, n=people), lines, citations)

    def _count(self) -> Answer | None:
        counted = counted_of_library(self._folded)
        if counted is None:
            return None
        (kind, rest), nouns = counted, word_lists("library")["nouns"]
        narrower = next((kind for kind, same in nouns.items() if kind and set(rest) & set(same.split())), "")
        if kind in ("pages", "words"):
            return self._measured(kind, " ".join(rest)) if rest else None
        if rest and not (kind == "" and narrower and len(rest) == 1):
            return None
        return self._listed([each for each in self._documents if (kind or narrower) in ("", each.type)])

    def _measured(self, kind: str, rest: str) -> Answer | None:
        named = documents_named(rest, self._documents)
        document = self._store.document(named[0].id) if len(named) == 1 else None
        if document is None:
            return None
        pages = [part for part in document.parts if part.page is not None]
        if kind == "pages" and not pages:
            return None
        number = max(part.page or 0 for part in pages) if kind == "pages" else len(document.content.split())
        citation = _beginning(document)
        return self._answered(
            self._said[kind].format(name=name_of(named[0]), n=number) + " [1]" * (citation is not None),
            [],
            [citation] if citation else [],
        )

    def _answered(self, line: str, lines: Sequence[str], citations: Sequence[Citation], more: int = 0) -> Answer:
        written = [line, *(f"- {each} [{number}]" for number, each in enumerate(lines, 1))]
        if more > 0:
            written.append(self._said["more"].format(n=more))
        text = "\n".join(written)
        return Answer(self._question, text, True, Reason.ANSWERED, self._language, 1.0, tuple(citations))


def _beginning(document: Document) -> Citation | None:
    """Cite the first meaningful line of a document, cut to about 120 characters; in a chat, that of a message."""
    start, end = next(filter(None, _lines(document)), (0, 0))
    if end - start > LONGEST_LINE:
        end = max(document.content.rfind(" ", start, start + LONGEST_LINE), start + 1)
    return next(iter(cite_spans(document, [(start, end)])), None) if end else None


def _lines(document: Document) -> Iterator[Span | None]:
    """Yield candidates for the line that introduces a document, best first; None means no line."""
    messages = [part for part in document.parts if part.kind is PartKind.MESSAGE and part.body is not None]
    for part in messages:
        match = _WORDS.match(document.content, part.body or 0, part.end)
        yield match.span() if match else None
    has_front_matter = document.type == DocumentType.MARKDOWN and document.content.startswith("---")
    start = document.parts[1].start if has_front_matter and len(document.parts) > 1 else 0
    if document.parts and document.parts[0].kind is PartKind.SECTION and document.parts[0].body is not None:
        # Skip the comments and the preamble before the section's text.
        start = document.parts[0].body
    match = None if messages else _SENTENCE.search(document.content, start)
    yield match.span("text") if match else None
    line = _LINE.search(document.content, start)
    yield line.span() if line else None


def _first_mention(document: Document, indexed: IndexedChunk, what: str) -> Citation:
    """Cite the first of the sentences of a passage that contain most of these words."""
    chunk = indexed.chunk
    asked = set(words(fold_in_place(what)))

    def has(span: tuple[int, int]) -> int:
        return len(asked & set(words(fold_in_place(chunk.content[span[0] : span[1]]))))

    spans = indexed.sentences or ((0, len(chunk.content)),)
    start, end = max(spans, key=has)
    whole = Document(document.id, document.content, document.source, document.title, document.type, parts=chunk.parts)
    return next(iter(cite_spans(whole, [(chunk.start + start, chunk.start + end)])))
