"""What `make docs` does beside MkDocs: pages from other folders, links to source files, llms.txt.

Pages link to files of the project (`../benchmarks/sync.py`), which works where the project is read as a repository. On
the site a link to a file that isn't a page becomes its text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
ELSEWHERE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",
    "benchmarks/README.md": "benchmarks/scripts.md",
    "benchmarks/RESULTS.md": "benchmarks/results.md",
    "benchmarks/peers/RESULTS.md": "benchmarks/peers.md",
}
"""Files of the project outside of docs/ that are pages too, with their names there."""
_ORIGIN = {page: path for path, page in ELSEWHERE.items()}
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
_NO_PARAGRAPH = ("#", "```", "|", "!", "<", "-", ":::", "hide:")
_MADE_HERE = ("python-api.md",)
"""Pages that Markdown alone doesn't show: llms.txt names their HTML."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere."""
    for path, page in ELSEWHERE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links fit the site, and describe the page by its first sentence."""
    here = page.file.src_uri
    folder = posixpath.dirname(_ORIGIN.get(here, f"docs/{here}"))
    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(lambda found: _link(found, folder, here, files), part) for part in parts[::2]]
    page.meta.setdefault("description", first_sentence(markdown))
    return "".join(parts)


def _link(found: re.Match[str], folder: str, here: str, files: Files) -> str:
    text, target = found.groups()
    if re.match(r"[a-z]+:|#", target):
        return found[0]
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(folder, path))
    page = ELSEWHERE.get(path) or path.removeprefix("docs/")
    if path not in ELSEWHERE and (not path.startswith("docs/") or files.get_file_from_path(page) is None):
        if not (ROOT / path).exists():
            return found[0]
        return text
    relative = posixpath.relpath(page, posixpath.dirname(here) or ".")
    return f"[{text}]({relative}{'#' * bool(anchor)}{anchor})"


def first_sentence(markdown: str) -> str:
    """The first sentence of the first paragraph that doesn't lead to something else, without its mark-up."""
    text = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n", text):
        plain = " ".join(paragraph.split())
        if plain and not plain.endswith(":") and not plain.startswith(_NO_PARAGRAPH):
            plain = _LINK.sub(r"\1", plain).replace("**", "")
            return re.split(r"(?<=[.])\s", plain, maxsplit=1)[0]
    return ""


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the order of the pages for llms.txt."""
    config.extra["order"] = nav
    return nav


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt (llmstxt.org) and beside each page its Markdown, which it names."""
    nav: Navigation = config.extra["order"]
    site = Path(config.site_dir)
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    top = [item for item in nav.items if not item.is_section]
    sections: list[tuple[str, list[Any]]] = [("Start", top)]
    sections += [(item.title, item.children) for item in nav.items if item.is_section]
    for title, pages in sections:
        lines += [f"## {title}", "", *(_named(page, site) for page in pages), ""]
    (site / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def _named(page: Page, site: Path) -> str:
    name = page.file.dest_uri if page.file.src_uri in _MADE_HERE else page.file.src_uri
    if name.endswith(".md"):
        (site / name).write_text(page.markdown or "", encoding="utf-8")
    described = page.meta.get("description", "")
    return f"- [{page.title}]({name})" + (f": {described}" if described else "")
