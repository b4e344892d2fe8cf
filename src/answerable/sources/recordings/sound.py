"""Recording → sound, decoded by FFmpeg's libraries (PyAV) in blocks of a few minutes, so that memory stays small."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from answerable.errors import DamagedSource, EmptySource
from answerable.sources.recordings.formats import container_of

if TYPE_CHECKING:
    from answerable.datatypes import FloatArray

RATE = 16_000
"""Samples a second, as Whisper hears."""
_BLOCK = 300 * RATE
# A block ends at the quietest moment of its last half minute.
_END = 30 * RATE
_MOMENT = RATE // 5
_LEAST_RATE = 4_000


def blocks(data: bytes, source: str) -> Iterator[FloatArray]:
    """Yield the sound of a recording, one channel, in blocks of at most five minutes that end in a pause.

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
    """Return the middle of the quietest moment near the end."""
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
                    # A damaged packet among sound ones.
                    continue
                for frame in frames:
                    frame.pts = None
                    for out in resampler.resample(frame):
                        is_any = True
                        yield _floats(out)
            for out in resampler.resample(None) if is_any else ():
                yield _floats(out)
    except (av.error.FFmpegError, ValueError, EOFError) as error:
        # What was decoded before the end of a file that is cut off stays.
        if not is_any:
            raise damaged from error
    if not is_any:
        raise damaged


def _floats(frame: object) -> FloatArray:
    samples: FloatArray = frame.to_ndarray().reshape(-1).astype(np.float32) / 32768  # type: ignore[attr-defined]
    return samples
