"""Files and folders: which reader takes a file, and which files a folder offers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from made_files import zipped
from reading_here import read_file

from answerable.datatypes import DocumentType
from answerable.errors import EmptySource, SourceError, SourceNotFound, SourceTooLarge, UnsupportedSource
from answerable.sources import ReadContext, ReadLimits, Skipped, source_of, walk
from answerable.sources.file_reader import FileReader
from answerable.sources.formats import without_ocr


def names(root: Path, skipped: Skipped | None = None) -> list[str]:
    return [path.relative_to(root).as_posix() for path in walk(root, skipped)]


def fill(root: Path, *paths: str, text: str = "some text\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.txt", "plain text", DocumentType.TEXT),
        ("a.md", "# Title", DocumentType.MARKDOWN),
        ("a.MDX", "# Title", DocumentType.MARKDOWN),
        ("a.html", "<p>x</p>", DocumentType.HTML),
        ("saved", "\n<!DOCTYPE html><html><p>x</p>", DocumentType.HTML),
        ("a.txt", "<!DOCTYPE html><html><p>x</p>", DocumentType.TEXT),
        ("code.py", "print('x')", DocumentType.CODE),
        ("data.json", "{}", DocumentType.TEXT),
        ("talk.txt", "On %PDF-1.4 and later", DocumentType.TEXT),
        ("c.txt", "1/2/24, 10:00 - Ana: hi\n1/2/24, 10:01 - Bo: hello\n" * 9, DocumentType.CHAT),
    ],
)
def test_the_reader_follows_from_content_and_name(tmp_path: Path, name: str, content: str, kind: DocumentType) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    (document,) = read_file(tmp_path / name)
    assert document.type is kind
    assert document.source == (tmp_path / name).as_posix()


def test_a_pdf_is_a_pdf_whatever_its_name(tmp_path: Path, make_pdf: Callable[..., bytes]) -> None:
    for name, before in (("a.txt", b""), ("b.pdf", b"rubbish before it\n"), ("c", b"\xef\xbb\xbf\n")):
        (tmp_path / name).write_bytes(before + make_pdf(["page"]))
        assert read_file(tmp_path / name)[0].type is DocumentType.PDF


def test_a_text_called_pdf_is_damaged(tmp_path: Path) -> None:
    fill(tmp_path, "a.pdf")
    with pytest.raises(SourceError, match=r"a\.pdf is not a readable PDF"):
        read_file(tmp_path / "a.pdf")


def test_what_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    fill(tmp_path, "big.txt")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "image.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    os.mkfifo(tmp_path / "pipe")
    for name, error, message in (
        ("missing.txt", SourceNotFound, r"there is no file at .*missing\.txt: check the path"),
        ("big.txt/x", SourceError, "check the path"),
        ("big.txt", SourceTooLarge, r"big\.txt is over 5 bytes: split it, or raise the setting max_file_size"),
        ("empty.txt", EmptySource, r"empty\.txt is empty \(0 bytes\)"),
        ("image.txt", SourceError, "image"),
        ("pipe", UnsupportedSource, "device or a pipe"),
        ("", SourceError, "is a folder: use walk"),
    ):
        with pytest.raises(error, match=message):
            read_file(tmp_path / name, ReadContext(ReadLimits(max_file_size=5)))
    with pytest.raises(UnsupportedSource, match=r"image\.txt is a binary file \(PNG image\)"):
        read_file(tmp_path / "image.txt")


def test_permission_denied(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt")
    (tmp_path / "a.txt").chmod(0)
    user = os.geteuid()
    if user == 0:
        # Root may read everything: for the length of the call be somebody who may not.
        os.seteuid(65534)
    try:
        with pytest.raises(SourceError, match="permission denied: give yourself the right"):
            read_file(tmp_path / "a.txt")
    finally:
        os.seteuid(user)


def test_a_name_that_is_no_unicode(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_text("text")
    (document,) = read_file(path)
    assert document.source == source_of(path) == f"{tmp_path.as_posix()}/caf\ufffd.txt"


def test_a_folder_in_order_with_reasons(tmp_path: Path) -> None:
    fill(tmp_path, "b/z.md", "b/a.txt", "a.txt", ".hidden.md", ".git/config", "README", "src/x.py")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\x00")
    (tmp_path / "data.bin").write_bytes(b"\x00\x01\x02")
    (tmp_path / "empty.md").touch()
    (tmp_path / ".hidden.md").rename(tmp_path / ".answerableignore")
    (tmp_path / ".answerableignore").write_text("drafts/\n")
    fill(tmp_path, "drafts/one.md", "drafts/two.md")
    skipped = Skipped()
    assert names(tmp_path, skipped) == ["README", "a.txt", "b/a.txt", "b/z.md", "src/x.py"]
    assert skipped.counts == {"hidden": 1, "unsupported": 1, without_ocr(): 1, "empty": 1, "ignored": 1}
    named = {(Path(each.source).name, each.reason) for each in skipped.passed_over}
    assert named == {
        ("photo.jpg", without_ocr()),
        ("data.bin", "unsupported"),
        ("empty.md", "empty"),
        (".git", "hidden"),
        ("drafts", "ignored"),
    }


@pytest.mark.parametrize("folder", ["My page_files", "My page_archivos", "My page_arquivos", "My page.files"])
@pytest.mark.parametrize("page", ["My page.html", "My page.htm", "My page.xhtml"])
def test_what_a_saved_page_is_made_of_is_no_document(tmp_path: Path, folder: str, page: str) -> None:
    parts = ["style.css", "logo.svg", "app.js", "jquery.js.download", "frame.html", "data.json", "font", "deep/a.js"]
    fill(tmp_path, page, *(f"{folder}/{part}" for part in parts), f"{folder}/rules.pdf.md", f"{folder}/deep/prices.csv")
    skipped = Skipped()
    assert names(tmp_path, skipped) == sorted([page, f"{folder}/deep/prices.csv", f"{folder}/rules.pdf.md"])
    assert skipped.counts == {"part of a web page": len(parts)}
    assert {Path(each.source).name for each in skipped.passed_over} == {Path(part).name for part in parts}


def test_stylesheets_and_drawings_are_no_documents_but_code_is(tmp_path: Path) -> None:
    fill(tmp_path, "css/site.css", "js/app.js", "js/app.min.js", "js/app.js.map", "img/logo.svg")
    fill(tmp_path, "files/notes.js", "old_files/a.js", "page/index.html")
    skipped = Skipped()
    assert names(tmp_path, skipped) == ["files/notes.js", "js/app.js", "old_files/a.js", "page/index.html"]
    assert skipped.counts == {"part of a web page": 3, "unsupported": 1}


SCRIPTS = ["app.js", "assets/deep/app.mjs", "wp/jquery.js?ver=3.7.1", "menu.js.download", "site.webmanifest"]
DATA = ["data.json", "terms.csv", "notes.md", "tool.py"]


def test_scripts_beside_and_below_a_page_are_its_parts(tmp_path: Path) -> None:
    fill(tmp_path, "code/a.js", "b.js", *(f"site/{name}" for name in ("index.html", "theme.css?v=2", *SCRIPTS, *DATA)))
    skipped = Skipped()
    assert names(tmp_path, skipped) == sorted(
        ["b.js", "code/a.js", "site/index.html", *(f"site/{each}" for each in DATA)]
    )
    assert skipped.counts == {"part of a web page": len(SCRIPTS) + 1}
    # Beside and below a program's description, scripts are its source.
    fill(tmp_path, "package.json", text="{}")
    assert {f"site/{name}" for name in SCRIPTS} < set(names(tmp_path))


def test_scripts_of_a_page_in_an_archive_are_its_parts(tmp_path: Path) -> None:
    files = {"site/index.html": "<p>text</p>", "site/assets/app.js": "let a", "js/b.js": "let b"}
    (tmp_path / "a.zip").write_bytes(zipped(files))
    skipped = Skipped()
    found = read_file(tmp_path / "a.zip", ReadContext(skipped=skipped))
    assert [each.source.split("!/")[1] for each in found] == ["js/b.js", "site/index.html"]
    assert skipped.counts == {"part of a web page": 1}


def test_a_stylesheet_is_read_by_its_name_and_a_drawing_is_not(tmp_path: Path) -> None:
    (tmp_path / "site.css").write_text("body { color: red }")
    (tmp_path / "logo.svg").write_text("<svg><text>Plan</text></svg>")
    assert len(read_file(tmp_path / "site.css")) == 1
    with pytest.raises(UnsupportedSource, match=r"logo\.svg is a picture: leave it out"):
        read_file(tmp_path / "logo.svg")


def test_ignore_files_as_git_reads_them(tmp_path: Path) -> None:
    fill(
        tmp_path,
        "build/x.md",
        "a.log",
        "keep.log",
        "sub/a.log",
        "sub/deep/b.log",
        "sub/only/here.md",
        "other/only/here.md",
    )
    fill(tmp_path, "secret/s.md")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n!keep.log\n")
    (tmp_path / ".answerableignore").write_text("secret\n")
    (tmp_path / "sub" / ".gitignore").write_text("!a.log\n/only\n")
    skipped = Skipped()
    assert names(tmp_path, skipped) == ["keep.log", "other/only/here.md", "sub/a.log"]
    assert skipped.counts["ignored"] == 5


def test_links(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    fill(outside, "secret.md")
    fill(root, "a/real.md", ".store/kept.md")
    (root / "a" / "loop").symlink_to(root)
    (root / "b-link.md").symlink_to(root / "a" / "real.md")
    (root / "c-link.md").symlink_to(root / ".store" / "kept.md")
    (root / "escape.md").symlink_to(outside / "secret.md")
    (root / "escape").symlink_to(outside)
    (root / "broken.md").symlink_to(root / "nothing")
    (root / "self.md").symlink_to(root / "self.md")
    skipped = Skipped()
    assert names(root, skipped) == ["a/real.md", "c-link.md"]
    assert skipped.counts == {
        "hidden": 1,
        "link to a folder": 1,
        "already read under another name": 1,
        "link out of the folder": 2,
        "broken link": 2,
    }


def test_a_root_that_is_none(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt")
    with pytest.raises(SourceNotFound, match="check the path"):
        list(walk(tmp_path / "missing"))
    with pytest.raises(SourceError, match="is a file, not a folder"):
        list(walk(tmp_path / "a.txt"))


def test_a_sample_that_ends_within_a_character(tmp_path: Path) -> None:
    for number, encoding in enumerate(("utf-8", "utf-16", "utf-16-be", "cp1252")):
        text = "ñ" * (4095 + number) + "áé" * 5_000 + " and so on" * 2_000
        (tmp_path / f"{number}.txt").write_bytes(text.encode(encoding))
        assert read_file(tmp_path / f"{number}.txt")[0].content == text


def test_an_address_of_another_kind_is_no_path() -> None:
    with pytest.raises(
        UnsupportedSource,
        match=r"^ftp:// addresses aren't supported: give a file, a folder, or an address with https://",
    ):
        FileReader().listing("ftp://host/file.txt")
