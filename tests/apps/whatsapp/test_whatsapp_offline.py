"""Nothing leaves the machine while a chat is indexed and searched."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from watching import assert_kept_still, watch
from whatsapp_program import APP, EXAMPLE_CHAT

PROGRAM = """
import sys
from rag.core import RAGPipeline, parse_whatsapp_txt

pipeline = RAGPipeline()
pipeline.index_messages(parse_whatsapp_txt(open(sys.argv[1], encoding="utf-8").read()))
print(pipeline.retrieve("¿Quién es alérgica al cacahuate?", top_k=1))
"""


@pytest.mark.long
def test_nothing_leaves_the_machine(tmp_path: Path) -> None:
    watched = watch([sys.executable, "-c", PROGRAM, EXAMPLE_CHAT], tmp_path, PYTHONPATH=str(APP))
    assert_kept_still(watched, "cacahuate")
