"""Sound → what is said, a line for each sentence, with the second in which it begins.

Silence, noise and music make Whisper invent text. Only what the voice detector takes for speech is given to it, and
text is dropped that repeats itself, that the model is unsure of, or that it takes for no speech. Nothing is drawn at
random: the same recording gives the same text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from zlib import compress

from answerable.sources.context import Speech
from answerable.sources.recordings.sound import RATE, blocks
from answerable.sources.recordings.weights import load_model
from answerable.text.sentences import sentence_spans

if TYPE_CHECKING:
    from faster_whisper.transcribe import Segment, Word

    from answerable.datatypes import FloatArray

USUAL = ("en", "es", "pt")
"""The languages to choose from if the model is not sure and nobody has named any."""
_SURE = 0.6
# It names these for speech that it doesn't understand; hardly anybody speaks them.
_UNLIKELY = frozenset({"la", "sa", "haw", "nn"})
# As in OpenAI's own decoding, but without its further tries at random, which differ each time, and of each segment
# alone: people do say similar sentences one after the other.
_MOST_REPETITION = 2.4
_MOST_ALIKE = 3
_LEAST_LIKELY = -1.0
_NO_SPEECH = 0.6
_LEAST_LIKELY_OF_DOUBTFUL = -0.8
# Seconds of silence that end a sentence, and characters after which any segment does.
_LONG_PAUSE = 2.0
_LONG_LINE = 300


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and where it begins in the recording, in seconds."""

    seconds: float
    text: str


@dataclass(slots=True)
class Transcript:
    """What is said in a recording. If `is_cut`, the time was over before its end; `seconds` are heard."""

    lines: list[Line] = field(default_factory=list)
    language: str = ""
    seconds: float = 0.0
    is_cut: bool = False


def hear(
    data: bytes,
    source: str,
    speech: Speech,
    seconds: float,
    working: Callable[[], None],
    expected: Collection[str] = (),
) -> Transcript:
    """Return what is said in a recording, as far as it can be heard in these seconds of processor time.

    `expected` are the languages to choose from if the model isn't sure. Raise DamagedSource and EmptySource.
    """
    ends = time.process_time() + seconds
    heard = Transcript()
    for block in blocks(data, source):
        working()
        if heard.seconds and time.process_time() > ends:
            heard.is_cut = True
            break
        model = load_model(speech.folder, speech.threads)
        segments = _segments(model, block, speech, heard, tuple(expected) or USUAL)
        kept: list[Segment] = []
        for segment in segments:
            working()
            alike = [each.text for each in kept[-_MOST_ALIKE:]].count(segment.text)
            if _is_speech(segment) and alike < _MOST_ALIKE:
                kept.append(segment)
            if time.process_time() > ends:
                heard.is_cut = True
                break
        heard.lines += _lines(kept, heard.seconds, heard.language)
        if heard.is_cut:
            heard.seconds += float(kept[-1].end) if kept else 0.0
            break
        heard.seconds += len(block) / RATE
    return heard


def _segments(
    model: Any, block: FloatArray, speech: Speech, heard: Transcript, expected: tuple[str, ...]
) -> Iterable[Segment]:
    """Return the segments of a block; set the language if none is set yet."""
    segments, info = _transcribed(model, block, heard.language or _only(speech))
    if heard.language or not info.duration_after_vad:
        return segments
    heard.language = _language(info, speech.languages or expected, is_any=not speech.languages)
    return segments if heard.language == info.language else _transcribed(model, block, heard.language)[0]


def _transcribed(model: Any, block: FloatArray, language: str | None) -> tuple[Iterator[Segment], Any]:
    segments, info = model.transcribe(
        block,
        language=language or None,
        beam_size=5,
        temperature=0.0,
        compression_ratio_threshold=None,
        log_prob_threshold=_LEAST_LIKELY,
        no_speech_threshold=_NO_SPEECH,
        condition_on_previous_text=False,
        word_timestamps=True,
        vad_filter=True,
    )
    return segments, info


def _only(speech: Speech) -> str | None:
    return speech.languages[0] if len(speech.languages) == 1 else None


def _language(info: Any, choice: tuple[str, ...], is_any: bool) -> str:
    """Return the detected language, or the likeliest of the choice if it isn't sure, or may be no other."""
    found: str = info.language
    is_sure = info.language_probability >= _SURE and found not in _UNLIKELY
    if found in choice or (is_any and is_sure):
        return found
    likely = dict(info.all_language_probs or ())
    return max(choice, key=lambda language: likely.get(language, 0.0)) if likely else found


def _is_speech(segment: Any) -> bool:
    text = segment.text.encode()
    if len(text) > _MOST_REPETITION * len(compress(text)) or segment.avg_logprob < _LEAST_LIKELY:
        return False
    return bool(segment.no_speech_prob <= _NO_SPEECH or segment.avg_logprob >= _LEAST_LIKELY_OF_DOUBTFUL)


def _lines(segments: Iterable[Segment], offset: float, language: str) -> Iterator[Line]:
    """Yield the sentences of the segments, which begin `offset` seconds after the recording does."""
    for words in _runs(segments):
        text = "".join(word.word for word in words)
        starts = list(accumulate((len(word.word) for word in words), initial=0))
        for start, end in sentence_spans(text, language):
            first = next(number for number, begin in enumerate(starts) if starts[number + 1] > start)
            yield Line(round(offset + float(words[first].start), 2), " ".join(text[start:end].split()))


def _runs(segments: Iterable[Segment]) -> Iterator[list[Word]]:
    """Yield words that may form sentences: a run ends at a long pause, or at a segment's end if it got long."""
    run: list[Word] = []
    length = 0
    for segment in segments:
        if length > _LONG_LINE:
            yield run
            run, length = [], 0
        for word in segment.words or ():
            if run and word.start - run[-1].end > _LONG_PAUSE:
                yield run
                run, length = [], 0
            run.append(word)
            length = 0 if word.word.rstrip().endswith((".", "?", "!", "…", "。")) else length + len(word.word)
    if run:
        yield run
