"""Nothing leaves the machine while the README's examples run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from test_toolkit_readme import README, ROOT
from watching import assert_kept_still, watch


@pytest.mark.long
def test_nothing_leaves_the_machine(tmp_path: Path) -> None:
    program = "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    source = str(ROOT / "apps" / "toolkit" / "src")
    watched = watch([sys.executable, "-c", program], tmp_path, cwd=ROOT, PYTHONPATH=source)
    assert_kept_still(watched, "riverside-library-rules.pdf page 1")
