"""Answer questions about the library itself: how many documents, which of them mention something, who is in a chat."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from answerable.answering.citations import cite_spans
from answerable.computing.asked import EDGES, is_of_everything, listed, listing, people
from answerable.computing.source import named_of
from answerable.computing.vocabulary import SMALL_WORDS, documents_named, name_of, name_stems, stems, word_lists
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
        kind, topic = listing(self._folded) or (None, None)
        if topic:
            return self._mentions(self._question[self._question.find(self._question.strip(EDGES)) :][slice(*topic)])
        if kind is not None or is_of_everything(self._folded):
            return self._listed([each for each in self._documents if not kind or each.type == kind])
        named = people(self._folded)
        return None if named is None else self._people(named)

    def _mentions(self, topic: str) -> Answer | None:
        what, small = topic.strip(EDGES), SMALL_WORDS | listed("terms")
        while (parts := what.partition(" "))[0].lower() in small:
            what = parts[2]
        if not what:
            return None
        found = self._documents_with(what)
        if not found:
            text = self._said["nothing"].format(what=f"“{what}”")
            return Answer(self._question, text, False, Reason.NOTHING_FOUND, self._language, 0.0)
        lines, citations = [], []
        for document, chunks in found[:SHOWN]:
            lines.append(f"{name_of(document)}: {self._number_of('times', len(chunks))}")
            citations.append(_first_mention(document, chunks[0], what))
        line = self._number_of("mention", len(found), what=f"“{what}”")
        return self._answered(line, lines, citations, len(found) - len(lines))

    def _number_of(self, name: str, n: int, **others: str) -> str:
        one, several = self._said[name]
        return str((one if n == 1 else several).format(n=n, **others))

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

    def _listed(self, documents: Sequence[StoredDocument]) -> Answer:
        lines, citations = [], []
        for each in documents[:SHOWN]:
            if (document := self._store.document(each.id)) and (citation := _beginning(document)):
                quote = without_marks(document, citation.start, citation.end)
                lines.append(f"{name_of(each)}: “{' '.join(quote.split())}”")
                citations.append(citation)
        line = self._said["documents"].format(n=self._number_of("documents_noun", len(documents)))
        return self._answered(line, lines, citations, len(documents) - len(lines))

    def _people(self, named: Sequence[str]) -> Answer | None:
        """Return who is in the chat of this name, or in all chats; None if no chat has a word of the name."""
        chats = [each for each in self._documents if each.type == DocumentType.CHAT]
        if not chats or not all(any(stems(word) & name_stems(each) for each in chats) for word in named):
            return None
        chosen = documents_named(" ".join(named), chats) or chats
        lines, citations = [], list[Citation]()
        for each in chosen:
            document = self._store.document(each.id)
            statistics = chat_statistics(document) if document else None
            if document is None or statistics is None:
                continue
            firsts = {
                part.sender: (part.start, part.end)
                for part in reversed(document.parts)
                if part.kind is PartKind.MESSAGE and part.sender
            }
            citations += cite_spans(document, (firsts[sender] for sender in statistics.by_sender))
            where = f" ({name_of(each)})" if len(chosen) > 1 else ""
            lines += [f"{who}: {self._number_of('messages', n)}{where}" for who, n in statistics.by_sender.items()]
        number = len({line.partition(":")[0] for line in lines})
        return self._answered(
            self._said["people"].format(name=named_of(map(name_of, chosen)), n=number), lines, citations
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
