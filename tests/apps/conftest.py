"""What the tests of all applications share."""

from __future__ import annotations

from pathlib import Path

import certifi
import pytest

_END = "-----END CERTIFICATE-----\n"


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file for SSL_CERT_FILE: every client reads all certificates that it trusts, and no server here has any."""
    path: Path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(certifi.contents().partition(_END)[0] + _END, "utf-8")
    return str(path)
