"""Recordings: what is said, its seconds, and what is not said in silence, noise and music."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from speech import RATE, music, noise, packed, silence, spoken, wav

import answerable
from answerable.datatypes import Document, DocumentType
from answerable.errors import AnswerableError, DamagedSource, EmptySource, UnsupportedSource
from answerable.formats.locate import Locator
from answerable.sources.context import ReadContext, ReadLimits, Skipped
from answerable.sources.dispatch import read_bytes
from answerable.sources.recordings.hear import blocks, find_speech

SAID = "The plumber comes on Thursday at half past four. Please leave the key under the blue flower pot."
CONTEXT = ReadContext(speech=find_speech())


@pytest.fixture(scope="module")
def note() -> bytes:
    return packed(spoken(SAID))


def heard(data: bytes, name: str = "/in/note.opus", context: ReadContext = CONTEXT) -> Document:
    (document,) = read_bytes(data, name, context)
    return document


@pytest.mark.long
def test_each_sentence_is_a_line_with_its_second(note: bytes) -> None:
    document = heard(note)
    assert (document.type, document.language, document.title) == (DocumentType.RECORDING, "en", "note")
    assert (document.metadata["model"], round(document.metadata["duration"])) == ("whisper-base", 7)
    lines = document.content.split("\n")
    assert [document.content[part.start : part.end] for part in document.parts] == lines
    assert len(lines) == 2
    assert "Thursday at half past four" in lines[0]
    assert "blue flower pot" in lines[1]
    first, second = (part.seconds for part in document.parts)
    assert first is not None
    assert second is not None
    assert 0 <= first < 0.5
    assert 3 < second < 4.5
    place = Locator(document).location(document.parts[1].start, document.parts[1].end)
    assert (str(place), place.lines) == (f"0:0{int(second)}", None)
    assert heard(note) == document


@pytest.mark.parametrize(
    ("container", "codec", "name"),
    [
        ("ipod", "aac", "memo.m4a"),
        ("mp3", "mp3", "talk.mp3"),
        ("mp4", "aac", "film.mp4"),
        ("flac", "flac", "a.flac"),
        ("webm", "libopus", "a.webm"),
    ],
)
def test_every_container_is_decoded_alike(container: str, codec: str, name: str) -> None:
    sound = spoken(SAID)
    plain = np.concatenate(list(blocks(sound, "a.wav")))
    decoded = np.concatenate(list(blocks(packed(sound, container, codec), name)))
    # Coders add a moment of silence.
    assert abs(len(decoded) - len(plain)) < 0.2 * RATE
    assert abs(float(np.std(decoded)) - float(np.std(plain))) < 0.1 * float(np.std(plain))


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("es", "La reunión es el martes a las diez de la mañana en la oficina de la calle mayor.", "reunión"),
        ("pt", "Oi Joana, aqui é o Pedro. A consulta do dentista ficou para sexta-feira às três da tarde.", "dentista"),
    ],
)
def test_the_language_is_told(language: str, text: str, word: str) -> None:
    document = heard(spoken(text, language), "note.wav")
    assert document.language == language
    assert word in document.content.lower()


def test_only_languages_that_are_set_are_heard(note: bytes) -> None:
    assert heard(note, context=ReadContext(speech=find_speech(languages=["es"]))).language == "es"


@pytest.mark.parametrize("sound", [silence, noise, music], ids=lambda sound: sound.__name__)
def test_nothing_is_said_in_silence_noise_and_music(sound: Callable[[float], np.ndarray]) -> None:
    with pytest.raises(EmptySource, match=r"no speech was found: leave it out"):
        heard(wav(sound(20)), "a.wav")


def test_after_a_long_silence_seconds_still_count_from_the_beginning() -> None:
    spoken_samples = np.concatenate(list(blocks(spoken("The boat leaves at nine."), "a.wav"))) * 32767
    document = heard(wav(np.concatenate([silence(40), spoken_samples])), "a.wav")
    assert "boat leaves" in document.content
    assert document.parts[0].seconds == pytest.approx(40, abs=1)


def test_long_recordings_are_decoded_in_blocks_that_end_in_pauses() -> None:
    tone = np.sin(np.arange(RATE * 620) / 9) * 9_000
    tone[RATE * 291 : RATE * 292] = 0
    sizes = [len(block) for block in blocks(wav(tone), "a.wav")]
    assert sum(sizes) == len(tone)
    assert 291 * RATE < sizes[0] < 292 * RATE
    assert max(sizes) <= 300 * RATE


def test_what_was_heard_when_the_time_is_over_stays() -> None:
    more = "The ferry to the island is out of order until May, so we take the bus along the coast and walk the rest."
    long = np.concatenate(list(blocks(spoken(f"{SAID} {more}"), "a.wav"))) * 32767
    skipped = Skipped()
    context = ReadContext(ReadLimits(max_audio_seconds=0.01), speech=CONTEXT.speech, skipped=skipped)
    document = heard(wav(long), "a.wav", context)
    assert 0 < document.metadata["duration"] < len(long) / RATE - 3
    assert "max_audio_seconds" in str(skipped.errors[0])


def test_hours_of_silence_in_a_small_file_end_when_the_time_is_over() -> None:
    bomb = packed(wav(np.zeros(RATE * 310)), "flac", "flac")
    assert len(bomb) < 200_000
    skipped = Skipped()
    context = ReadContext(ReadLimits(max_audio_seconds=0), speech=CONTEXT.speech, skipped=skipped)
    with pytest.raises(EmptySource, match="no speech was found"):
        heard(bomb, "a.flac", context)
    assert "was heard up to 4:" in str(skipped.errors[0])


@pytest.mark.parametrize(
    ("data", "error", "what"),
    [
        (b"OggS\0" + bytes(200), DamagedSource, "its sound can't be decoded"),
        (b"RIFF\x10\0\0\0WAVEfmt " + bytes(30), DamagedSource, "its sound can't be decoded"),
        (b"\0\0\0\x18ftypM4A " + bytes(400), DamagedSource, "its sound can't be decoded"),
        (b"ID3\x04\0" + bytes(900), DamagedSource, "its sound can't be decoded"),
        (wav(np.zeros(100), rate=1), DamagedSource, "its sound can't be decoded"),
    ],
)
def test_damaged_files_are_refused(data: bytes, error: type[AnswerableError], what: str) -> None:
    with pytest.raises(error, match=what):
        heard(data, "a.ogg")


def test_a_cut_recording_is_decoded_to_its_end(note: bytes) -> None:
    whole, cut = (sum(map(len, blocks(data, "a.opus"))) for data in (note, note[: len(note) * 2 // 3]))
    assert 0.5 * whole < cut < 0.8 * whole


def test_a_playlist_named_like_a_recording_opens_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.wav"
    secret.write_bytes(spoken(SAID))
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{secret}\n#EXT-X-ENDLIST\n".encode()
    for data in (playlist, b"ID3\x04\0\0\0\0\0\0" + playlist):
        try:
            (document,) = read_bytes(data, str(tmp_path / "a.mp3"), CONTEXT)
        except AnswerableError:
            continue
        assert document.type is not DocumentType.RECORDING


def test_without_a_model_the_error_says_how_to_get_one(note: bytes) -> None:
    with pytest.raises(UnsupportedSource, match=r"pip install '\.\[audio\]'"):
        heard(note, context=ReadContext())


def test_random_damage_raises_nothing_but_our_errors(note: bytes) -> None:
    draw = random.Random(7)
    samples = [note, spoken("Yes."), packed(spoken("No."), "ipod", "aac"), packed(spoken("No."), "mp3", "mp3")]
    for _ in range(300):
        data = bytearray(draw.choice(samples))
        for _ in range(draw.randrange(1, 40)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            sound = list(blocks(bytes(data[: draw.randrange(1, len(data))]), "a.ogg"))
        except AnswerableError:
            continue
        assert all(block.dtype == np.float32 and np.isfinite(block).all() for block in sound)


def test_a_citation_links_to_the_second(note: bytes, tmp_path: Path) -> None:
    (tmp_path / "plumber.opus").write_bytes(note)
    with answerable.open(":memory:") as library:
        library.add(tmp_path)
        found = library.ask("When does the plumber come?")
        (citation,) = found.citations
        assert citation.quote == "The plumber comes on Thursday at half past four."
        assert (str(citation.location), citation.link) == ("0:00", f"{(tmp_path / 'plumber.opus').as_uri()}#t=0")
        (other,) = library.ask("Where should the key be left?").citations
        assert other.link.partition("#t=")[2].startswith("3.")
