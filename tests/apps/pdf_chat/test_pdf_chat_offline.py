"""Both scripts talk to PostgreSQL, to the server of OpenAI's protocol and to nobody else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pdf_chat_parts import APP
from watching import assert_kept_still, watch


def test_nothing_leaves_the_machine(environment: dict[str, str], save_pdf: Callable[..., Path], tmp_path: Path) -> None:
    save_pdf()
    for script, printed in (("ingest.py", "Ingestão concluída"), ("chat.py", "10 milhões de reais")):
        typed = "Qual foi o faturamento em 2023?\nsair\n"
        watched = watch([sys.executable, APP / script], tmp_path / "watched", typed=typed, **environment)
        assert_kept_still(watched, printed)
