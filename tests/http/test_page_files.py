"""The files of the web page: which are served, how, and what their texts and scripts may hold."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import httpx
import pytest
from service_on_socket import small_service

from answerable import errors
from answerable.errors import AnswerableError, error_code
from answerable.interfaces.http import page_files as page_module
from answerable.settings import Settings

PAGE = Path(page_module.__file__).with_name("page")
OWN = [path for path in PAGE.rglob("*") if path.suffix in (".js", ".css", ".html") and "vendor" not in path.parts]
SCRIPTS = page_module.joined(
    {path.relative_to(PAGE).as_posix(): path.read_text("utf-8") for path in OWN if path.suffix != ".html"}
)
_DEFINED = re.compile(r'^modules\["(\S+)"\] \?\?=', re.MULTILINE)
_USED = re.compile(r' = modules\["(\S+)"\];')
_FIELD = re.compile(r"\{\w+\}")


def row_of(line: str) -> tuple[str, list[str]]:
    """The name and the texts of a line of i18n.js."""
    name, texts = line.strip().split(": ", 1)
    return name, re.findall(r'"((?:[^"\\]|\\.)*)"', texts)


def rows() -> dict[str, list[str]]:
    """All texts by name."""
    texts = "\n".join(path.read_text("utf-8") for path in sorted(PAGE.rglob("i18n*.js")))
    source = re.sub(r"\[\n\s+|,\n\s+(?=\")|,\n\s+\]", _joined, texts)
    return dict(row_of(line) for line in source.splitlines() if re.match(r"  \w+: \[", line))


def _joined(match: re.Match[str]) -> str:
    return {"[": "[", "]": "]"}.get(match[0].strip(", \n"), ", ")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("", "text/html; charset=utf-8"),
        ("page/main.js", "text/javascript; charset=utf-8"),
        ("page/views/pdf.js", "text/javascript; charset=utf-8"),
        ("page/styles/base.css", "text/css; charset=utf-8"),
        ("page/icon.svg", "image/svg+xml"),
        ("page/icons/192.png", "image/png"),
        ("page/manifest.webmanifest", "application/manifest+json"),
        ("page/vendor/pdf.worker.min.mjs", "text/javascript; charset=utf-8"),
        ("page/vendor/openjpeg.wasm", "application/wasm"),
    ],
)
def test_files_are_served_and_known_again(client: httpx.Client, path: str, kind: str) -> None:
    found = client.get(path)
    assert (found.status_code, found.headers["content-type"]) == (200, kind)
    assert found.headers["cache-control"] == "no-cache"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert "unsafe-inline" not in found.headers["content-security-policy"]
    again = client.get(path, headers={"If-None-Match": f'W/"x", {found.headers["etag"]}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", found.headers["etag"])
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    head = client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(found.content))


def test_only_the_worker_may_compile_and_only_webassembly(client: httpx.Client) -> None:
    for path in PAGE.rglob("*.*js"):
        policy = client.get(f"page/{path.relative_to(PAGE).as_posix()}").headers["content-security-policy"]
        assert ("wasm-unsafe-eval" in policy) == (path.name == "pdf.worker.min.mjs")
        assert "'unsafe-eval'" not in policy


def test_the_service_worker_may_serve_the_whole_page(client: httpx.Client) -> None:
    found = client.get("page/service_worker.js")
    assert found.headers["service-worker-allowed"] == "../"
    policy = found.headers["content-security-policy"].split("; ")
    assert {"connect-src 'self'", "manifest-src 'self'", "worker-src 'self' blob:"} <= set(policy)
    manifest = client.get("page/manifest.webmanifest").json()
    for icon in manifest["icons"]:
        assert client.get(f"page/{icon['src']}").headers["content-type"] == icon["type"]


def test_scripts_stay_small() -> None:
    # What comes with the page, and with a source until a PDF's library is loaded. Views and pages come when opened.
    main, source = (vendored(name) | {name: SCRIPTS[name]} for name in ("main.js", "views/source.js"))
    assert sum(map(len, main.values())) <= 200_000
    assert sum(map(len, {**main, **source}.values())) <= 235_000
    assert 'modules["views/pdf.js"]' in source["views/source.js"]


def vendored(name: str) -> dict[str, str]:
    """What a script imports from others' libraries, with all that these import."""
    found = {}
    left = [(Path(name).parent / path).as_posix() for path in re.findall(r'"(\.\S+\.mjs)";', SCRIPTS[name])]
    for path in left:
        found[path] = (PAGE / path).read_text("utf-8")
        left += [f"vendor/{other}" for other in re.findall(r'from"\./(\S+?\.mjs)"', found[path])]
    return found


def test_the_first_screen_is_one_round_trip_after_the_page() -> None:
    index = (PAGE / "index.html").read_text("utf-8")
    preloaded = re.findall(r'<link rel="modulepreload" href="page/([^"]+)"', index)
    assert sorted(preloaded) == sorted(vendored("main.js"))
    assert re.findall(r'<link rel="stylesheet" href="page/([^"]+)"', index) == ["styles.css"]
    assert re.findall(r'<script type="module" src="page/([^"]+)"', index) == ["main.js"]
    assert "@import" not in SCRIPTS["styles.css"]


def test_every_module_is_there_before_it_is_used() -> None:
    of_main = set(_DEFINED.findall(SCRIPTS["main.js"]))
    for name, text in SCRIPTS.items():
        there = set() if name == "main.js" else of_main
        for line in text.splitlines():
            assert set(_USED.findall(line)) <= there, (name, line)
            there = there | set(_DEFINED.findall(line))
        if name != "main.js":
            assert not of_main.intersection(_DEFINED.findall(text)), name
        # A module that is written in a form that isn't known would be left as it is.
        start = "export const modules" if name == "main.js" else r"import \{ later, modules \}"
        left = re.sub(rf"^(?:{start}|import \* as \w+ from ).*", "", text, flags=re.MULTILINE)
        assert not re.search(r"^(?:import|export)\b.*", left, re.MULTILINE), name


@pytest.mark.parametrize(
    "path",
    [
        "page/",
        "page/index.html",
        "page/vendor",
        "page/vendor/README.md",
        "page/vendor/licences/pdfjs.txt",
        "page/../app.py",
        "page/..%2Fapp.py",
        "page/%2e%2e/app.py",
        "page/vendor%5C..%5C..%5Capp.py",
        "page//etc/passwd",
        "page/MAIN.JS",
        "page/main.js%00",
    ],
)
def test_nothing_else_is_served(client: httpx.Client, path: str) -> None:
    found = client.get(path)
    assert (found.status_code, found.json()["code"]) == (404, "not_found")


def test_the_base_path_leads_to_the_page(tmp_path: Path) -> None:
    with small_service(tmp_path, base_path="/base") as (server, client):
        found = client.get(server.address.rstrip("/"))
        assert (found.status_code, found.headers["location"]) == (307, "/base/")
        assert client.get(found.headers["location"].removeprefix("/base/")).status_code == 200


def test_nothing_is_inline_or_loaded_from_elsewhere() -> None:
    for path in OWN:
        text = path.read_text("utf-8")
        assert not re.search(r"(src|href|url|import)\W{1,4}(https?:)?//", text), path
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            path
        )
        assert not re.search(r"(src|href)=\"/", text), path
    index = (PAGE / "index.html").read_text("utf-8")
    assert "<style" not in index
    assert " style=" not in index
    assert re.findall(r"<script[^>]*>([^<]*)</script>", index) == [""]


def test_every_text_is_there_in_every_language() -> None:
    found = rows()
    assert len(found) > 100
    for name, texts in found.items():
        assert len(texts) == 3, name
        fields = [set(_FIELD.findall(text)) for text in texts]
        assert fields[0] == fields[1] == fields[2], name
        assert all(texts), name


def test_every_setting_has_a_name_that_people_read() -> None:
    assert {name for name in rows() if name.startswith("set_")} == {f"set_{each.name}" for each in fields(Settings)}


def test_every_text_is_used_and_every_used_text_is_there() -> None:
    scripts = "\n".join(path.read_text("utf-8") for path in OWN if not path.name.startswith("i18n"))
    used = set(re.findall(r"\bt\(\s*\"(\w+)\"", scripts))
    assert used <= set(rows())
    composed = (
        "scope_",
        "why_",
        "kind_",
        "job_",
        "every_",
        "found_",
        "grounded_",
        "doing_",
        "sign_",
        "left_",
        "saveAs_",
        "set_",
    )
    for name in rows():
        assert name.startswith(composed) or re.search(rf'["."]{name}\b|^  {name}: \[', scripts, re.MULTILINE), name


def test_every_error_has_a_text_of_the_page() -> None:
    texts = (PAGE / "texts" / "problems.js").read_text("utf-8")
    codes = {error_code(kind) for kind in kinds_of(AnswerableError)}
    # An error without a kind has the text of any error.
    missing = {code for code in codes if f'"{code}"' not in texts}
    assert missing == {"answerable"}


def test_no_text_of_the_page_gives_advice_for_the_command_line() -> None:
    commands = re.compile(r"`|--[a-z]|\banswerable [a-z]|[A-Z]+_[A-Z_]+|\bpip\b")
    said = [text for texts in rows().values() for text in texts] + [(PAGE / "index.html").read_text("utf-8")]
    assert not [text for text in said if commands.search(re.sub(r"<!--.*?-->", "", text))]


def kinds_of(kind: type[AnswerableError]) -> set[type[AnswerableError]]:
    """A kind of error of the engine's with all that are of it."""
    found = {kind} if kind.__module__ == errors.__name__ else set()
    return found.union(*(kinds_of(one) for one in kind.__subclasses__()))


def test_vendored_libraries_are_named_with_their_licences() -> None:
    readme = (PAGE / "vendor" / "README.md").read_text("utf-8")
    for path in (PAGE / "vendor").iterdir():
        assert path.is_dir() or path.name == "README.md" or f"`{path.name}`" in readme, path.name
    licences = {path.stem for path in (PAGE / "vendor" / "licences").iterdir()}
    assert {"preact", "htm", "marked", "pdfjs", "openjpeg", "jbig2"} <= licences
