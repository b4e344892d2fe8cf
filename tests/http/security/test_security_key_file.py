"""The key file, and the command that writes it."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from answerable.errors import SettingsError
from answerable.interfaces.cli.main import app
from answerable.interfaces.http.guards.key_file import Keys


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def test_a_key_is_found_by_its_secret_alone_and_the_secret_is_nowhere(file: Path) -> None:
    key, secret = Keys(file).add("ask", "book", "Ana")
    assert len(secret) == len("ak_") + 43  # 256 bits, six in a letter
    assert Keys(file).find(secret) == key
    assert (key.role, key.library, key.name) == ("ask", "book", "Ana")
    for wrong in ("", secret[:-1], secret + "A", secret.lower(), key.id, key.sha256, "\ud800"):
        assert Keys(file).find(wrong) is None
    assert secret not in file.read_text("utf-8")
    assert secret[3:] not in "".join(path.read_text("utf-8") for path in file.parent.iterdir())


def test_nobody_else_may_read_the_file_and_one_that_others_may_write_is_refused(file: Path) -> None:
    Keys(file).add("admin")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o620)
    with pytest.raises(SettingsError, match="chmod 600"):
        Keys(file).list()


def test_a_file_that_everybody_may_replace_is_refused(file: Path) -> None:
    Keys(file).add("admin")
    link = file.with_name("folder") / "link.json"
    link.parent.mkdir()
    link.symlink_to(file)
    for folder in (file.parent, link.parent):
        folder.chmod(0o777)
        with pytest.raises(SettingsError, match="chmod o-w"):
            Keys(link).list()
        folder.chmod(0o1777)
        assert len(Keys(link).list()) == 1
        folder.chmod(0o700)


def test_what_is_no_file_is_refused_at_once(file: Path) -> None:
    os.mkfifo(file, 0o600)
    with pytest.raises(SettingsError, match="not a file"):
        Keys(file).list()
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(SettingsError, match="not a file"):
        Keys(file).list()


def test_changes_are_seen_by_who_has_the_file_open_already(file: Path) -> None:
    first, _ = Keys(file).add("ask")
    open_already = Keys(file)
    assert open_already.list() == (first,)
    second, secret = Keys(file).add("admin")
    assert open_already.find(secret) == second
    Keys(file).remove(second.id)
    assert open_already.find(secret) is None
    file.unlink()
    with pytest.raises(SettingsError, match="keys add"):
        open_already.find(secret)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"keys": [{}]}',
        '{"keys": [{"id": "a", "sha256": "", "role": "admin", "library": null, "name": "", "made": ""}]}',
        '{"keys": [{"id": "a", "sha256": "%s", "role": "root", "library": null, "name": "", "made": ""}]}' % ("0" * 64),
        '{"keys": [{"id": "a", "sha256": "%s", "role": "ask", "library": 1, "name": "", "made": ""}]}' % ("0" * 64),
        "\N{LATIN SMALL LETTER E WITH ACUTE}",
        '{"keys": ' + "[" * 100_000,
    ],
)
def test_a_damaged_file_lets_nobody_in(file: Path, text: str) -> None:
    file.write_text(text, "latin-1")
    file.chmod(0o600)
    for attempt in (Keys(file).list, lambda: Keys(file).find(""), lambda: Keys(file).add("admin")):
        with pytest.raises(SettingsError, match="damaged"):
            attempt()
    assert file.read_text("latin-1") == text


def test_keys_that_are_made_at_once_are_all_kept(file: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as processes:
        made = processes.starmap(_add, [(file,)] * 12)
    assert {key.id for key in Keys(file).list()} == set(made)
    assert len(set(made)) == 12


def test_the_command_makes_lists_and_removes_keys(file: Path) -> None:
    run = CliRunner().invoke
    made = run(app, ["keys", "add", "--role", "ask", "--library", "book", "--name", "Ana\x1b[2J", str(file)])
    key = Keys(file).find(made.stdout.strip())
    assert key is not None
    listed = run(app, ["keys", "list", str(file)]).stdout
    assert key.id in listed
    assert "Ana" in listed
    assert "\x1b" not in listed
    assert made.stdout.strip() not in listed
    assert key.sha256 not in listed
    as_json = json.loads(run(app, ["keys", "list", str(file), "--json"]).stdout)["keys"]
    assert [(each["id"], each["role"], each["library"]) for each in as_json] == [(key.id, "ask", "book")]
    assert run(app, ["keys", "remove", str(file), key.id]).exit_code == 0
    assert Keys(file).list() == ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "{file}"], "--role"),
        (["add", "--role", "root", "{file}"], "role"),
        (["list", "{file}"], "keys add"),
        (["remove", "{file}", "nobody"], "keys add"),
    ],
)
def test_what_makes_no_sense_is_said_and_makes_no_file(file: Path, arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["keys", *(each.format(file=file) for each in arguments)], prog_name="answerable")
    assert done.exit_code == 2
    assert said in done.stderr
    assert not os.path.exists(file)


def _add(file: Path) -> str:
    return Keys(file).add("ask")[0].id
