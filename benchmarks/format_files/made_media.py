"""Pictures, scans and recordings made here: lines drawn at known places, sentences spoken at known seconds."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from speech import RATE, packed, silence, spoken, wav

from format_files.sample import Probe, Sample, probe

_SIZE = (1240, 1754)
_TYPE = 34
_LEFT = 120
_PAGES = (
    (
        "House rules of the harbour hall",
        "The harbour office opens at nine in the morning.",
        "Dogs travel free of charge.",
    ),
    ("Prices", "A berth for one night costs 14 euros.", "Water and electricity are included."),
    ("Emergencies", "The life rings hang beside the crane.", "Call the harbour master on channel 12."),
)
_SAID = ("The meeting starts at nine in the morning.", "Please bring the key of the garden shed.")
_PAUSE = 4.0


def media() -> list[Sample]:
    """A scanned PDF, a picture and a recording."""
    return [_scan(), _picture(), _recording()]


def _scan() -> Sample:
    first, *others = [_drawn(lines) for lines in _PAGES]
    buffer = io.BytesIO()
    first.save(buffer, "PDF", resolution=150, save_all=True, append_images=others)
    probes = tuple(probe(lines[1], page=number) for number, lines in enumerate(_PAGES, 1))
    return Sample("scan.pdf", "pdf, scanned", probes, buffer.getvalue(), " ".join(map(" ".join, _PAGES)))


def _picture() -> Sample:
    buffer = io.BytesIO()
    _drawn(_PAGES[0]).save(buffer, "PNG")
    probes = tuple(
        Probe(line, {"page": 1, "point": [(_LEFT + 60) / _SIZE[0], (_top(row) + _TYPE / 2) / _SIZE[1]]})
        for row, line in enumerate(_PAGES[0])
    )
    return Sample("notice.png", "png", probes, buffer.getvalue(), " ".join(_PAGES[0]))


def _drawn(lines: tuple[str, ...]) -> Image.Image:
    image = Image.new("RGB", _SIZE, "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(_TYPE)
    for row, line in enumerate(lines):
        pen.text((_LEFT, _top(row)), line, font=font, fill="black")
    return image


def _top(row: int) -> int:
    return 200 + row * 300


def _recording() -> Sample:
    pieces, seconds, samples = [], [], 0
    for sentence in _SAID:
        seconds.append(samples / RATE)
        said = _samples(spoken(sentence))
        pieces += [said, silence(_PAUSE)]
        samples += len(said) + int(_PAUSE * RATE)
    probes = tuple(probe(text, second=at) for text, at in zip(_SAID, seconds, strict=True))
    return Sample("reminder.opus", "opus", probes, packed(wav(np.concatenate(pieces))), " ".join(_SAID))


def voice_note() -> bytes:
    """A voice note that says the last sentence."""
    return packed(wav(_samples(spoken(_SAID[1]))))


def said_in_note() -> str:
    """What the voice note says."""
    return _SAID[1]


def _samples(wave: bytes) -> np.ndarray:
    """The samples of a file of espeak-ng at the rate of all others."""
    from av import AudioResampler
    from av import open as opened

    resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
    with opened(io.BytesIO(wave)) as file:
        frames = [out for frame in [*file.decode(audio=0), None] for out in resampler.resample(frame)]
    return np.concatenate([frame.to_ndarray().ravel() for frame in frames])
