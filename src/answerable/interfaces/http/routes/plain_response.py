"""A response of plain values."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse


class PlainResponse(JSONResponse):
    """JSON of what `plain.py` makes. A document's metadata may hold dates and the like: they become texts."""

    def render(self, content: Any) -> bytes:
        """The value in UTF-8."""
        return json.dumps(content, ensure_ascii=False, default=str, separators=(",", ":")).encode("utf-8")
