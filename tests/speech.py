"""Make voice notes for tests: spoken by espeak-ng, encoded as phones do."""

from __future__ import annotations

import io
import shutil
import subprocess
import wave

import av
import numpy as np

RATE = 16_000
# The slowest that still sounds natural; Brazilian Portuguese of espeak-ng is taken for Latin.
_VOICES = {"en": "en-us", "es": "es", "pt": "pt"}


def spoken(text: str, language: str = "en", speed: int = 135) -> bytes:
    """Return a WAV file of a text that is read aloud."""
    command = shutil.which("espeak-ng")
    assert command, "the tests need espeak-ng (on Debian: apt-get install espeak-ng); `make system` installs it"
    done = subprocess.run(
        [command, "-v", _VOICES[language], "-s", str(speed), "--stdout", text], capture_output=True, check=True
    )
    # What is written to a pipe has no length yet.
    with wave.open(io.BytesIO(done.stdout)) as file:
        samples = np.frombuffer(done.stdout[44:], np.int16)
        return wav(samples, file.getframerate())


def wav(samples: np.ndarray, rate: int = RATE) -> bytes:
    """Return a WAV file of samples of 16 bits."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype(np.int16).tobytes())
    return buffer.getvalue()


def silence(seconds: float) -> np.ndarray:
    """Return samples of silence."""
    return np.zeros(int(seconds * RATE), np.int16)


def noise(seconds: float) -> np.ndarray:
    """Return samples of loud white noise."""
    return (np.random.default_rng(5).normal(0, 0.1, int(seconds * RATE)) * 32767).clip(-32767, 32767)


def music(seconds: float) -> np.ndarray:
    """Return samples of a broken chord, two notes a second."""
    moments = np.arange(int(seconds * RATE)) / RATE
    notes = np.array([261.6, 329.6, 392.0, 523.3])[(moments * 2).astype(int) % 4]
    return np.sin(2 * np.pi * notes * moments) * np.exp(-3 * (moments * 2 % 1)) * 12_000


def packed(sound: bytes, container: str = "ogg", codec: str = "libopus") -> bytes:
    """Return a WAV file in another container, by default as WhatsApp sends voice notes."""
    buffer = io.BytesIO()
    with av.open(io.BytesIO(sound)) as source, av.open(buffer, "w", format=container) as target:
        stream = target.add_stream(codec, rate=48_000, layout="mono")
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=48_000)
        fifo = av.AudioFifo()
        for frame in [*source.decode(audio=0), None]:
            for out in resampler.resample(frame):
                out.pts = None
                fifo.write(out)
        size = stream.codec_context.frame_size or 960
        while (frame := fifo.read(size) or fifo.read(size, partial=True)) is not None:
            for packet in stream.encode(frame):
                target.mux(packet)
        for packet in stream.encode(None):
            target.mux(packet)
    return buffer.getvalue()
