"""How well and how fast recordings are heard: word error rate, CPU seconds a minute, and 20 questions on voice notes.

    python benchmarks/recordings.py [FOLDER_OF_ANOTHER_MODEL …]

Spoken by espeak-ng, a formant synthesiser, which Whisper hears worse than people; Brazilian Portuguese of espeak-ng it
takes for Latin. Where they are installed, also prompts of Asterisk recorded by people, in English and Spanish (Debian:
asterisk-core-sounds-en-wav and -es-wav, CC BY-SA 3.0, Allison Smith). Another model is a folder for the setting
audio_model; a model that hears only English (`tiny.en`) is measured in English.
"""

from __future__ import annotations

import gzip
import re
import sys
import tempfile
import time
import unicodedata
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np
from speech import packed, spoken, wav

import answerable
from answerable.datatypes import FloatArray
from answerable.sources.recordings.hear import RATE, blocks, find_speech, hear, load_model

TEXTS = {
    "en": (
        "The plumber comes on Thursday at half past four. He asks for eighty euros for the first hour.",
        "We meet at the station in front of the bakery, because the bridge is closed until Sunday.",
        "Please buy six eggs, a bottle of milk and some bread, and leave the key with the neighbour.",
        "The doctor said that the wound looks good, and that the bandage stays on for another week.",
        "My flight lands at seven in the evening, so I will be late for dinner at the restaurant.",
    ),
    "es": (
        "La reunión con el arquitecto es el martes a las diez de la mañana en la oficina.",
        "El fontanero pide ochenta euros por la primera hora y viene con su hermano.",
        "Compra seis huevos, una botella de leche y un poco de pan en el mercado.",
        "El médico dice que la herida está muy bien y que vuelva dentro de una semana.",
        "Mi avión llega a las siete de la tarde, así que llego tarde a la cena.",
    ),
    "pt": (
        "A consulta do dentista ficou para sexta-feira às três da tarde.",
        "O encanador pede oitenta euros pela primeira hora e vem com o irmão.",
        "Compre seis ovos, uma garrafa de leite e um pouco de pão no mercado.",
        "O médico disse que a ferida está muito boa e que volte daqui a uma semana.",
        "O meu avião chega às sete da noite, por isso chego tarde ao jantar.",
    ),
}
SOUNDS = {"en": "en_US_f_Allison", "es": "es_MX_f_Allison"}
# Notes of a chat, and questions that only they answer, with words of the right sentence.
NOTES = (
    ("Ana", "The plumber comes on Thursday at half past four. Please leave the key under the flower pot."),
    ("Ben", "I have booked a table at the Italian restaurant for eight people. The address is Mill Street twelve."),
    ("Carla", "The car is at the garage in the old harbour. The repair costs four hundred and twenty dollars."),
    ("David", "Grandmother is in the hospital since Monday. Her room is on the third floor next to the elevator."),
    ("Emma", "The school trip goes to the castle in June. Every child needs a warm jacket and a packed lunch."),
    ("Ana", "I sold the green bicycle to our neighbour. He will pay me at the end of the month."),
    ("Ben", "My new job starts in September at the library. I will work there four days a week."),
    ("Carla", "The cat eats only the fish from the blue tin. Give her fresh water in the morning."),
    ("David", "We fly to Lisbon on the second of May. The hotel is near the river and has a swimming pool."),
    ("Emma", "The meeting with the bank was cancelled because the manager is ill. They will call us on Friday."),
)
QUESTIONS = (
    ("When does the plumber come?", "half past four"),
    ("Where should the key be left?", "flower pot"),
    ("For how many people is the table booked?", "eight people|8 people"),
    ("What is the address of the restaurant?", "mill street"),
    ("Where is the car?", "garage"),
    ("How much does the repair of the car cost?", "420|four hundred"),
    ("Since when is grandmother in the hospital?", "monday"),
    ("On which floor is grandmother's room?", "third floor"),
    ("Where does the school trip go?", "castle"),
    ("What does every child need?", "jacket"),
    ("To whom was the green bicycle sold?", "neighbo"),
    ("When will he pay for the bicycle?", "end of the month"),
    ("When does Ben's new job start?", "september"),
    ("How many days a week will Ben work?", "four days|4 days"),
    ("What does the cat eat?", "fish"),
    ("When should the cat get fresh water?", "morning"),
    ("Where do we fly in May?", "lisbon"),
    ("What is the hotel near?", "river"),
    ("Why was the meeting with the bank cancelled?", "ill"),
    ("When will the bank call us?", "friday"),
)


def words(text: str) -> list[str]:
    """The words of a text without case, accents and punctuation."""
    plain = "".join(each for each in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(each))
    return re.findall(r"[^\W_]+", plain)


def errors(right: Sequence[str], heard: Sequence[str]) -> int:
    """The words to change, add and remove (Levenshtein)."""
    row = list(range(len(heard) + 1))
    for number, word in enumerate(right, 1):
        above, row = row, [number]
        for place, other in enumerate(heard, 1):
            row.append(min(above[place] + 1, row[-1] + 1, above[place - 1] + (word != other)))
    return row[-1]


def prompts(language: str, seconds: float = 60) -> Iterator[tuple[FloatArray, str]]:
    """Prompts of Asterisk of over three seconds, and their texts; nothing where they aren't installed."""
    listed = Path(f"/usr/share/doc/asterisk-core-sounds-{language}/core-sounds-{language}.txt.gz")
    if language not in SOUNDS or not listed.exists():
        return
    for line in gzip.decompress(listed.read_bytes()).decode("utf-8", "replace").splitlines():
        name, _, text = line.partition(":")
        path = Path("/usr/share/asterisk/sounds", SOUNDS[language], f"{name}.wav")
        # Two bytes a sample, 8,000 a second.
        length = path.stat().st_size / 16_000 if path.exists() else 0
        if line.startswith(";") or "[" in text or re.search(r"\d", text) or not 3 < length < 15:
            continue
        yield np.concatenate(list(blocks(path.read_bytes(), path.name))), text
        seconds -= length
        if seconds < 0:
            return


def measure(folder: str, sound: bytes, text: str) -> str:
    """The rest of a row of the table: how a recording is heard."""
    speech = find_speech(folder)
    assert speech
    load_model(folder, 0)
    began = time.process_time()
    found = hear(sound, "a.wav", speech, 3600, lambda: None)
    cpu = (time.process_time() - began) / found.seconds * 60
    heard, right = words(" ".join(line.text for line in found.lines)), words(text)
    wrong = errors(right, heard)
    name = Path(folder).name if folder else "base"
    shares = f"{wrong / len(right):.0%} of {len(right)}"
    return f"{shares} | {found.language} | {cpu:.0f} s | {found.seconds:.0f} s | {name}"


def ask_notes() -> int:
    """How many of the 20 questions are answered from the right second of the right note."""
    lines, right = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chat.zip")
        with zipfile.ZipFile(path, "w") as archive:
            for number, (sender, text) in enumerate(NOTES, 1):
                name = f"PTT-20240305-WA{number:04}.opus"
                lines.append(f"{number:02}/03/2024, 21:{number + 10} - {sender}: {name} (file attached)")
                archive.writestr(name, packed(spoken(text)))
            archive.writestr("_chat.txt", "\n".join(lines))
        with answerable.open(":memory:") as library:
            library.add(path)
            (stored,) = library.documents()
            document = library.document(stored.id)
            for question, wanted in QUESTIONS:
                found = library.ask(question)
                first = next(iter(found.citations), None)
                exact = first and document.content[first.start : first.end] == first.quote
                is_right = bool(exact and first.location.seconds and re.search(wanted, first.quote.lower()))
                right += is_right
                print("+" if is_right else "-", question, "→", first and f"{first.quote} ({first.location})")
    return right


def main() -> None:
    """Print the table, then the questions."""
    print("| speech | wrong words | language told | CPU for a minute | measured | model |\n|---|---|---|---|---|---|")
    for folder in ("", *sys.argv[1:]):
        for language, texts in TEXTS.items():
            if folder.endswith("en") and language != "en":
                continue
            text = " ".join(texts)
            print(f"| {language}, espeak-ng | {measure(folder, packed(spoken(text, language)), text)} |", flush=True)
            if real := list(prompts(language)):
                pause = np.zeros(RATE)
                sound = np.concatenate([piece for prompt, _ in real for piece in (prompt, pause)])
                said = " ".join(text for _, text in real)
                print(f"| {language}, a person | {measure(folder, wav(sound * 32767), said)} |", flush=True)
    print(f"{ask_notes()} of {len(QUESTIONS)} questions")


if __name__ == "__main__":
    main()
