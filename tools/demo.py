"""A five-minute demo: add the files of `examples/` to a separate library and ask questions about them."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples"
# Questions, each with the text that the quotes must contain; None if the documents don't answer.
QUESTIONS = [
    ("¿Cuál es el código de la reserva del hotel?", "GLD-4471"),
    ("How much do I pay if I bring back a power tool late?", "2 euros"),
    ("How often should I descale the machine?", "every 200 cups"),
    ("Quantas horas de sol o manjericão precisa?", "seis horas de sol"),
    ("Who won the football World Cup in 1998?", None),
]


def answerable(*arguments: str) -> str:
    """Run the command as a user would, and return its output."""
    command = [sys.executable, "-m", "answerable", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, encoding="utf-8")
    if done.returncode != 0:
        sys.exit(f"answerable {arguments[0]} failed with status {done.returncode}")
    return done.stdout


def main() -> None:
    """Add the files, ask the questions, and exit with status 1 if an answer differs from what the files say."""
    os.environ["PYTHONIOENCODING"] = "utf-8"
    sys.stdout.reconfigure(encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        os.environ.setdefault("ANSWERABLE_LIBRARY", str(Path(temporary) / "library"))
        print("$ answerable add examples", flush=True)
        print(answerable("add", str(FOLDER)))
        wrong = []
        for question, expected in QUESTIONS:
            print(f"$ answerable ask {json.dumps(question, ensure_ascii=False)}", flush=True)
            answer = json.loads(answerable("ask", question, "--json"))
            print(answerable("ask", question))
            quotes = " ".join(" ".join(citation["quote"].split()) for citation in answer["citations"])
            if (expected is None and answer["answered"]) or (expected is not None and expected not in quotes):
                wrong.append(question)
    if wrong:
        sys.exit("not answered as the files say: " + "; ".join(wrong))
    print("All five as the files say: four answered with quotes, one refused.")


if __name__ == "__main__":
    main()
