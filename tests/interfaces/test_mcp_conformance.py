"""The official conformance suite of the Model Context Protocol, for each revision that clients of today speak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from mcp_servers import HttpServer, over_http
from npm import installed, run_program

SUITE = Path(__file__).parent / "mcp_conformance"
# In seconds: npm brings 50 MB the first time, and the suite takes ten where the machine does nothing else.
PATIENCE = 300


@pytest.fixture(scope="module")
def server(example_library: Path, quick_settings: Mapping[str, str]) -> Iterator[HttpServer]:
    """A server of the examples."""
    with over_http(example_library, env=quick_settings) as server:
        yield server


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_official_suite_finds_no_failure_but_those_expected(
    server: HttpServer, revision: str, tmp_path: Path
) -> None:
    folder = installed(SUITE / "package.json", PATIENCE)
    suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    expected = ("--expected-failures", str(SUITE / "expected_failures.yaml"))
    options = ("--url", server.url, "--requirements", revision, "--output-dir", str(tmp_path), *expected)
    run_program(folder, "node", suite, "server", *options, timeout=PATIENCE)
