"""Test the adapter of sentence-transformers as far as possible without PyTorch, which the tests don't install."""

from __future__ import annotations

import subprocess
import sys

COMMAND = "pip install '.[sentence-transformers]'"


def test_without_the_package_the_command_is_told() -> None:
    code = (
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "from answerable.errors import MissingPackage\n"
        "from answerable.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder\n"
        "try: print(SentenceTransformersEmbedder().fingerprint)\n"
        "except MissingPackage as error: print(error)\n"
        "import os; assert 'torch' not in sys.modules and os.environ['HF_HUB_DISABLE_TELEMETRY'] == '1'"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert COMMAND in told
