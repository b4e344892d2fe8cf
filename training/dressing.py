"""Windows in the forms that documents have: under a heading, as a list, as a chat, as a table.

Most sets are paragraphs of encyclopaedias; without this the reader would be a model of these only.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from training.corpus import Passage, Span

PEOPLE = (
    "Ana Luis Maria João Carla Pedro Sofía Miguel Laura Tom Emma Rafael Lucía Bruno Kate Jorge Mamá Papai Inês Diego "
    "Olivia James Chloe Raj Wei Fatima Omar Nuria Iker Thiago Beatriz Gustavo Helena Marta Andrés Camila Valentina Sam "
    "Priya Hannah Felipe Renata Tío_Paco Dona_Lúcia Ana_Paula José_Luis Mary_Ann Dr._Costa Coach_Ben +34_612_345_678 "
    "+1_555_0134 +55_11_98765-4321 Room_4B Vecina_3º Grandma"
)
ACCORDING = {
    "en": ("According to {name}, {rest}", "{name} said: {rest}", "What did {name} say? {rest}"),
    "es": ("Según {name}, {rest}", "¿Qué dijo {name}? {rest}", "{rest} según {name}"),
    "pt": ("Segundo {name}, {rest}", "O que disse {name}? {rest}", "De acordo com {name}, {rest}"),
}
_NAMES = tuple(name.replace("_", " ") for name in PEOPLE.split())
_CAPITALS = re.compile(r"\b[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+){0,3}")


@dataclass(frozen=True, slots=True)
class Window:
    """A text with the span of the answer in it (None without), and the question about it."""

    question: str
    text: str
    answer: Span | None


def dress(window: Window, passage: Passage, language: str, cuts: Sequence[int], draw: random.Random) -> Window:
    """Return the window in some form; `cuts` are offsets in its text at which sentences begin."""
    roll = draw.random()
    inside = [cut for cut in cuts if 0 < cut < len(window.text)]
    if window.answer is not None:
        inside = [cut for cut in inside if not window.answer[0] < cut < window.answer[1]]
    if roll < 0.10:
        return _as_chat(window, language, inside, draw)
    if roll < 0.15:
        mark = draw.choice(("- ", "• ", "* ", "1. "))
        return _prefixed(window, inside, [mark] * (len(inside) + 1))
    if roll < 0.35:
        return _prefixed(window, [], [_heading(passage, draw) + "\n"])
    return window


def _as_chat(window: Window, language: str, cuts: Sequence[int], draw: random.Random) -> Window:
    """One message a sentence; some questions ask what one person said, which another one's message doesn't answer."""
    writers = draw.sample(_NAMES, draw.choice((2, 2, 3, 4)))
    senders = [draw.choice(writers) for _ in range(len(cuts) + 1)]
    hour, minute, marks = draw.randrange(7, 23), draw.randrange(60), []
    for sender in senders:
        minute += draw.choice((0, 0, 1, 2, 7))
        hour, minute = (hour + minute // 60) % 24, minute % 60
        marks.append(f"{hour:02}:{minute:02} {sender}: ")
    date = f"{draw.randrange(2015, 2027)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
    marks[0] = f"{date}\n{marks[0]}" if draw.random() < 0.8 else marks[0]
    dressed = _prefixed(window, cuts, marks)
    if draw.random() > 0.35 or language not in ACCORDING:
        return dressed
    # What isn't answered is asked so too: else the reader learns that such a question has an answer.
    writer = senders[sum(cut <= window.answer[0] for cut in cuts)] if window.answer else draw.choice(senders)
    asked = writer if draw.random() < 0.6 else draw.choice(writers)
    lower = window.question[:1].lower() + window.question[1:]
    question = draw.choice(ACCORDING[language]).format(name=asked, rest=lower)
    return replace(dressed, question=question, answer=dressed.answer if asked == writer else None)


def _heading(passage: Passage, draw: random.Random) -> str:
    """A heading as the reader gets it: title and headings. Without a title, a name that the passage repeats."""
    named = Counter(_CAPITALS.findall(passage.text))
    words = passage.text.split()
    at = draw.randrange(max(1, len(words) - 4))
    some = " ".join(words[at : at + draw.randint(1, 4)]).strip(".,;:()")
    title = passage.title or (max(named, key=lambda name: (named[name], len(name))) if named else some)
    return draw.choice((title, title, f"{title} › {some}", some))


def _prefixed(window: Window, cuts: Sequence[int], marks: Sequence[str]) -> Window:
    """Put each mark before a part of the text, parts after the first on lines of their own."""
    edges = (0, *cuts, len(window.text))
    text, moved = "", []
    for mark, low, high in zip(marks, edges, edges[1:], strict=False):
        text += ("\n" if low else "") + mark
        moved.append((low, high, len(text) - low))
        text = (text + window.text[low:high]).rstrip(" ")
    if window.answer is None:
        return replace(window, text=text)
    start, end = window.answer
    shift = next(by for low, high, by in moved if low <= start < high)
    return replace(window, text=text, answer=(start + shift, end + shift))
