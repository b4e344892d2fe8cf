"""Find the most relevant passages for a question and its vector: terms, search, feedback, reranking, deduplication.

Exact strings of a question are quoted words, and identifiers such as ERR_4711 or v1.2.3. Case, white space and Unicode
compatibility forms are ignored. Only whole strings match: ERR_471 doesn't match ERR_4711, nor v1.2 v1.2.3. Numbers,
ordinals, hyphenated words ("20-year-old") and names with a single digit, which people spell in many ways (IL-6, SHP2),
are not identifiers.

The best candidates are reranked: short questions by sentence, long ones by relevance feedback. A short question asks
for one fact, which is in one sentence: a chunk's score grows with its best sentence. A long one describes a topic: its
vector is moved towards the best results (Rocchio 1971; the weights are a softmax over the scores, so that a clear
winner changes little). nDCG@10 on the development sets without sentences and feedback, and with both:

    SciFact en .725 .724     Cranfield en .425 .437     FaQuAD pt .932 .939     XQuAD en .985 .986, es .981 .984
    SQuAD2 en .947 .955, es .907 .918, pt .925 .932     es → en .938 .940       en → es .952 .953   de → en .925 .925
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from answerable.datatypes import FloatArray, RetrievalResult, Span
from answerable.filters import Filter
from answerable.protocols import IndexedChunk, Reranker, Store
from answerable.retrieval.hybrid import (
    Candidates,
    Fetched,
    NearDuplicates,
    Scored,
    Stored,
    asked_again,
    best_first,
    drop_repeats,
    fuse,
    hybrid_search,
    other_languages,
)
from answerable.text.indexed_text import count_places, indexed_text
from answerable.text.languages import question_language
from answerable.text.terms import highest_score, plain_words, question_words, rarity, terms

# If a word is in more chunks than this, reading the candidates is faster than looking up the word in the index: in a
# folder, looking up 2,000 takes 4 ms of CPU time with the index's process, reading 190 candidates 11 ms.
LOOKED_UP = 2000
# Straight quotation marks open before a word and close after a word; after a digit, the mark may mean inches.
_QUOTED = re.compile(
    r"""(?<!\w)"(?!\s)([^"]{2,200})(?<!\s)"(?!\w)|“([^“”]{2,200})”|«([^«»]{2,200})»|„([^„“”]{2,200})[“”]"""
    r"""|‹([^‹›]{2,200})›"""
)
_TOKEN = re.compile(r"\w+(?:(?:[-./:]|::)\w+)*(?:\(\))?")
_CODE = re.compile(
    r"""
      \w*[^\W_]_\w+ (?:[-./:]\w+)* (?:\(\))?      # foo_bar, ERR_4711
    | \w+ (?:(?:\.|::)\w+)* \(\)                  # read(), store.read()
    | (?=.*\d.*\d) (?=.*[^\W\d_]) (?:[A-Z]{1,6}|\d+[A-Z]?) (?:[-./:](?:[A-Z]{1,6}|\d+[A-Z]?|[A-Z]\d+))+   # ISO-9001
    | [A-Z]{1,6}\d{3,}[A-Z]?                      # RFC2616
    | [vV]?\d+ (?:\.\d+){2,3} | [vV]\d+ (?:\.\d+)+    # 1.2.3, v1.2
    | \d+ (?:-\d+){2,}                            # 12-0001-44
    """,
    re.VERBOSE,
)

# Text without spaces is one span: models tokenize "GLP-1R" differently from its parts.
_RUN = re.compile(r"\S*\w")


def exact_texts(question: str) -> tuple[str, ...]:
    """Return the quotes and identifiers in the question, each once, normalised for `count_held`."""
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(question)]
    codes = [match[0] for match in _TOKEN.finditer(question) if _CODE.fullmatch(match[0])]
    found = (_folded(text.strip(" .,;:!?")) for text in (*quoted, *codes))
    return tuple(dict.fromkeys(text for text in found if re.search(r"\w", text)))


def count_held(wanted: Iterable[str], text: str) -> int:
    """Return how many of these strings the text contains exactly."""
    folded = _folded(text)
    return sum(
        re.search(rf"(?<!\w)(?<!\w[-./:_]){re.escape(each)}(?!\w)(?![-./:_]\w)", folded) is not None for each in wanted
    )


def may_hold(store: Store, wanted: Sequence[str], languages: Collection[str], scored: Scored) -> Scored:
    """Drop chunks that, by the keyword index, contain none of these strings.

    The index is searched for each string's rarest word; if this word is in too many chunks, nothing is dropped.
    """
    words = [plain_words(text, languages) for text in wanted]
    counts = store.document_frequency([stem for those in words for word in those for stem in word])
    rarest = [min(those, key=lambda word: sum(counts[stem] for stem in word), default=None) for those in words]
    stems = frozenset[str]().union(*filter(None, rarest))
    most = sum(counts[stem] for stem in stems)
    if None in rarest or most > LOOKED_UP:
        return scored
    having = {number for number, _ in store.search_terms(sorted(stems), most, None)} if most else set[int]()
    return [pair for pair in scored if pair[0] in having]


def held_by(fetched: Fetched, wanted: Sequence[str], scored: Scored) -> dict[int, int]:
    """Return how many of these strings each chunk contains; chunks without any are left out."""
    stored = fetched.fetch([number for number, _ in scored])
    counts = {number: count_held(wanted, indexed_text(indexed.chunk)) for number, (indexed, _) in stored.items()}
    return {number: count for number, count in counts.items() if count}


def exact_first(scored: Scored, held: Mapping[int, int]) -> Scored:
    """Rank each chunk above all that contain fewer of the exact strings; scores are from 0 to 1."""
    if not held:
        return scored
    most = max(held.values())
    ordered = sorted(scored, key=lambda pair: (-held.get(pair[0], 0), -pair[1], pair[0]))
    return [(number, (score + held.get(number, 0)) / (1 + most)) for number, score in ordered]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question. `language` is "" if unknown; each element of `words` is the set of a word's stems."""

    text: str
    language: str
    words: tuple[frozenset[str], ...]
    languages: frozenset[str] = frozenset()
    exact: tuple[str, ...] = ()

    @property
    def terms(self) -> list[str]:
        """All stems of all words, each once, sorted."""
        return sorted(frozenset[str]().union(*self.words))

    def spans(self, weights: Mapping[frozenset[str], float]) -> dict[Span, float]:
        """Return the spans of the words with their weights; words without a space between them are one span."""
        found = {}
        for run in _RUN.finditer(self.text):
            words = question_words(run[0], self.language, self.languages)
            found[run.span()] = max((weights.get(word, 0.0) for word in words), default=0.0)
        return found


def analyze_question(text: str, languages: Collection[str], topic: str | None = None) -> Question:
    """Analyse a question for a library in these languages; take the words from `topic`, if given, instead of `text`."""
    language = question_language(text, languages)
    words = question_words(text if topic is None else topic, language, languages)
    return Question(text, language, tuple(words), frozenset(languages), exact_texts(text))


def required(question: str) -> str:
    """Return the question without white space around it. Raise ValueError if nothing is left."""
    if not question.strip():
        raise ValueError("the question is empty: ask something")
    return question.strip()


SHORT, LONG = 5, 10
"""A question of up to SHORT words asks for a fact; from LONG words on it describes a topic; in between it is both."""
SENTENCE_WEIGHT = 0.5
"""Weight of the best sentence against its chunk for a short question. For this and the next three, see the table."""
CLOSENESS = 0.15
"""Share of words subtracted from a sentence for each standard deviation that its cosine is below the best cosine."""
FEEDBACK = 10
"""How many results move the vector of a long question."""
TEMPERATURE = 0.05
"""Temperature of the softmax over the scores of these results: a clear winner changes little."""

REREAD = 20
"""How many candidates are compared sentence by sentence. A round number, not measured."""
RERANKED = 20
"""How many candidates a reranker judges: each one takes time. A round number, not measured."""
RERANK_WEIGHT = 0.5
"""Weight of the reranker's judgement against the score. A round number, not measured."""
ATTEMPTS = 3
"""Maximum number of searches if other processes replace documents during the search. A round number, not measured."""
ROUNDS = 10
"""Maximum number of rounds, each of which leaves out the copies found in the previous one; this bounds the time."""
# The first SEEN candidates, and two of each search SAMPLED ranks apart, show if most are copies: a guess, not measured.
SEEN, SAMPLED = 10, 80
QUESTION_MARKS = frozenset("?\u037e\u061f\uff1f")


def focus(words: int) -> float:
    """Return how specific a question with this number of words is, 0 to 1."""
    return min(max((LONG - words) / (LONG - SHORT), 0.0), 1.0)


def with_feedback(vector: FloatArray, found: Scored, stored: Stored, amount: float) -> FloatArray:
    """Move the question's vector towards its first results (`found`, best first), and scale it to length 1."""
    ranked = [(stored[number][0].vector, score) for number, score in found[:FEEDBACK] if number in stored]
    if not ranked:
        return vector
    weights = np.array([math.exp((score - ranked[0][1]) / TEMPERATURE) for _, score in ranked])
    weights /= weights.sum()
    centre = weights @ np.stack([near for near, _ in ranked])
    moved = vector + amount * (1 - weights[0]) * centre
    return np.asarray(moved / np.linalg.norm(moved), np.float32)


def reread(
    scored: Scored,
    stored: Stored,
    vector: FloatArray,
    weights: Mapping[frozenset[str], float],
    candidates: Candidates,
    amount: float,
) -> Scored:
    """Add the score of each stored chunk's best sentence; return the chunks best first, ties by number.

    `weights` belong to the question's words, `candidates` are the search results, `amount` is the weight of sentences.
    """
    if not amount:
        return scored
    asked = frozenset[str]().union(*weights)
    calibration, deviation = candidates.calibration, candidates.deviation
    similarities = {
        number: _similarities(indexed, vector) + calibration.of(number) for number, (indexed, _) in stored.items()
    }
    closest = max((float(some.max()) for some in similarities.values() if len(some)), default=0.0)
    # Only the words of a chunk count until its vectors are made.
    similarities |= {
        number: np.full(len(each.sentences), closest) for number, (each, _) in stored.items() if each.waits
    }
    found = dict.fromkeys((number for number, _ in scored), -1.0)
    for number, (indexed, document) in stored.items():
        best = -1.0 if indexed.sentences else 0.0
        most = _covered(weights, asked & indexed.terms.keys())
        away = (CLOSENESS * (closest - similarities[number]) / (deviation or 1.0)).tolist()
        # Begin with the closest sentence: none has more of the words than its chunk, so the loop can stop early.
        for place in sorted(range(len(away)), key=away.__getitem__):
            if most - away[place] <= best:
                break
            start, end = indexed.sentences[place]
            text = indexed.chunk.content[start:end] if most else ""
            own = asked.intersection(terms(text, document.language))
            best = max(best, _covered(weights, own) - away[place])
        found[number] = best
    share = amount * SENTENCE_WEIGHT
    return best_first((number, (score + share * (1 + found[number]) / 2) / (1 + share)) for number, score in scored)


def _covered(weights: Mapping[frozenset[str], float], own: Set[str]) -> float:
    """Return the weighted share of the question's words that have a stem in `own`."""
    held = sum(weight for word, weight in weights.items() if not word.isdisjoint(own)) if own else 0.0
    return held / (sum(weights.values()) or 1.0)


def _similarities(indexed: IndexedChunk, vector: FloatArray) -> FloatArray:
    if len(indexed.sentence_vectors) == len(indexed.sentences):
        return np.asarray(indexed.sentence_vectors @ vector)
    # Without sentence vectors, use the chunk's vector.
    return np.repeat(indexed.vector @ vector, len(indexed.sentences))


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a search. Evaluation switches some off to measure their effect.

    `scaled`: fuse scores on absolute scales; otherwise between the lowest and the highest score found.
    """

    reranker: Reranker | None = None
    scaled: bool = True
    feedback: bool = True
    sentences: bool = True
    exact: bool = True


ALL_STEPS = Steps()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question ready for the search: its vector, its words with their rarity among `chunks` chunks, and a filter."""

    question: Question
    vector: FloatArray
    weights: Mapping[frozenset[str], float]
    chunks: int
    where: Filter | None = None


def retrieve(
    store: Store, request: SearchRequest, k: int, steps: Steps = ALL_STEPS
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    """Return the k best passages, each with its index entry, best first; `request.weights` come from `word_weights`.

    The search is repeated if a document is replaced between two steps, so that no passages go missing.
    """
    best: list[tuple[RetrievalResult, IndexedChunk]] = []
    for _ in range(ATTEMPTS):
        fetched = Fetched(store)
        best = _retrieve(fetched, request, k, steps)
        if fetched.is_whole:
            break
    return best


def word_weights(store: Store, question: Question, chunks: int) -> dict[frozenset[str], float]:
    """Return the rarity of each word (a set of stems) of the question among the `chunks` chunks of the store."""
    frequencies = store.document_frequency(question.terms)
    # Weigh an unknown word like a word that occurs once: in a small library, most unknown words belong to the wording
    # of the question ("what happens if …") and would outweigh its topic.
    return {word: rarity(chunks, max(1, *(frequencies[term] for term in word))) for word in question.words}


def _retrieve(
    fetched: Fetched, request: SearchRequest, k: int, steps: Steps
) -> list[tuple[RetrievalResult, IndexedChunk]]:
    found, ranked = _search(fetched, request, k, steps)
    wanted = request.question.exact if steps.exact else ()
    candidates = may_hold(fetched.store, wanted, request.question.languages, ranked) if wanted else ()
    held = held_by(fetched, wanted, candidates)
    order = [number for number, _ in exact_first(ranked, held)]
    stored = fetched.fetch(order[:REREAD])
    amount = _focus(request.question, steps) * steps.sentences
    scores = exact_first(reread(ranked, stored, request.vector, request.weights, found, amount), held)
    meaning, keyword = _ranks(found.dense), _ranks(found.keyword)
    # Fetch twice as many as requested, so that enough remain without repeats; if too few remain, fetch more.
    reach = max(2 * k, REREAD)
    while True:
        stored = fetched.fetch([number for number, _ in scores[:reach]])
        results = (
            RetrievalResult(stored[number][0].chunk, score, stored[number][1], meaning.get(number), keyword.get(number))
            for number, score in scores[:reach]
            if number in stored
        )
        kept = drop_repeats(results, fetched.text_of)
        if len(kept) >= k or reach >= len(scores):
            break
        reach *= 2
    known = {indexed.chunk.id: indexed for indexed, _ in stored.values()}
    return [(result, known[result.chunk.id]) for result in _with_places(fetched, kept[:k], request.where)]


def _with_places(fetched: Fetched, results: Sequence[RetrievalResult], where: Filter | None) -> list[RetrievalResult]:
    """Return the results with the number of other chunks that pass the filter and have the same text."""
    hashes = [fetched.text_of(result.chunk) for result in results]
    places = count_places(fetched.store, hashes, where)
    return [
        replace(result, other_places=max(places[text] - 1, 0)) for result, text in zip(results, hashes, strict=True)
    ]


def _search(fetched: Fetched, request: SearchRequest, k: int, steps: Steps) -> tuple[Candidates, Scored]:
    """Return the candidates of both searches (with feedback for a long question) and their ranking so far."""
    highest = highest_score(request.weights.values())
    found = _candidates(fetched, request, highest, k)
    if not steps.scaled:
        return found, fuse(found.dense, found.keyword)
    ranked = _reranked(fetched, request, found.fused, steps.reranker)
    feedback = (1 - _focus(request.question, steps)) * steps.feedback
    if not feedback:
        return found, ranked
    first = fetched.fetch([number for number, _ in ranked[:FEEDBACK]])
    moved = with_feedback(request.vector, ranked, first, feedback)
    found = asked_again(fetched, moved, found, highest)
    return found, _reranked(fetched, request, found.fused, steps.reranker)


def _candidates(fetched: Fetched, request: SearchRequest, highest: float, k: int) -> Candidates:
    """Return the candidates of both searches, searched for again while most of the best are copies of few texts."""
    others = other_languages(request.question.language, request.question.languages, request.where)
    asked = request.vector, request.question.terms, highest, request.where, request.chunks, others
    duplicates = NearDuplicates(fetched)
    for _ in range(ROUNDS):
        found = hybrid_search(fetched.store, *asked, duplicates)
        # If every result is a copy, the search doesn't show how near the remaining chunks are.
        seen = found.fused[: max(k, SEEN)], found.dense[::SAMPLED], found.keyword[::SAMPLED]
        if not duplicates.found_among(*([number for number, _ in scored] for scored in seen)):
            break
    return found


def _focus(question: Question, steps: Steps) -> float:
    """Return how specific the question is, 0 to 1; with a reranker, a statement describes a topic, however short."""
    is_topic = steps.reranker is not None and QUESTION_MARKS.isdisjoint(question.text)
    return 0.0 if is_topic else focus(len(question.words))


def _reranked(fetched: Fetched, request: SearchRequest, scored: Scored, reranker: Reranker | None) -> Scored:
    """Mix the reranker's judgement of the first candidates into their scores."""
    if reranker is None:
        return scored
    stored = fetched.fetch([number for number, _ in scored[:RERANKED]])
    texts = [indexed_text(indexed.chunk) for indexed, _ in stored.values()]
    spans = request.question.spans(request.weights)
    judged = dict(zip(stored, reranker.judge(request.question.text, spans, texts), strict=True))
    return best_first(
        (number, (score + RERANK_WEIGHT * judged.get(number, 0.0)) / (1 + RERANK_WEIGHT)) for number, score in scored
    )


def _ranks(scored: Scored) -> dict[int, int]:
    return {number: rank for rank, (number, _) in enumerate(scored, 1)}
