"""Fuzz recordings: they are decoded in blocks of bounded size, or refused with an AnswerableError."""

from __future__ import annotations

import numpy as np
from draw import Draw
from fuzz_packages import spoilt
from fuzz_targets import Target
from speech import RATE, music, packed, wav

from answerable.errors import SourceError
from answerable.formats.marks import container_of, is_recording, media_type_of
from answerable.sources.recordings.hear import blocks

LONGEST = 300 * RATE
SOUND = wav(music(0.5))
FILES = (
    SOUND,
    packed(SOUND),
    packed(SOUND, "mp3", "mp3"),
    packed(SOUND, "ipod", "aac"),
    packed(SOUND, "flac", "flac"),
    packed(SOUND, "webm", "libopus"),
    packed(SOUND, "adts", "aac"),
)


def _recording(draw: Draw) -> None:
    data = spoilt(draw, draw.pick(FILES)) if draw.number(7) else draw.rest()
    assert bool(media_type_of(data)) == bool(container_of(data))
    if not is_recording(data, draw.pick((".mp3", ".aac", ".txt"))):
        return
    try:
        for block in blocks(data, "/in/a.mp3"):
            assert 0 < len(block) <= LONGEST
            assert np.abs(block).max() <= 1
    except SourceError as error:
        assert str(error).startswith("/in/a.mp3 ")


TARGETS = {"recording": Target(_recording, FILES)}
