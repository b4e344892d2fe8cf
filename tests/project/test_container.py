"""Compare the container files with the project, without running them in a container engine."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import tomllib
import yaml
from typer.main import get_group

from answerable.interfaces.cli.main import app
from answerable.settings import Settings

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
COMPOSED = sorted(ROOT.glob("compose*.yaml"))
VARIABLES = {f"ANSWERABLE_{field.name.upper()}" for field in dataclasses.fields(Settings)}


def instructions() -> dict[str, list[str]]:
    """The arguments of each instruction of the Dockerfile."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    found = defaultdict(list)
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, arguments = line.partition(" ")
            found[name].append(" ".join(arguments.split()))
    return found


def test_the_image_is_made_of_what_is_there() -> None:
    allowed = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()} - {"*"}
    copied = [name for line in instructions()["COPY"] if "--from" not in line for name in line.split()[:-1]]
    assert set(copied) == allowed
    assert all((ROOT / name).exists() for name in copied)
    (extras,) = re.findall(r"'\.\[([\w,-]+)\]'", " ".join(instructions()["RUN"]))
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    version = instructions()["FROM"][0].split()[0].removeprefix("python:").removesuffix("-slim")
    assert version in {"3.10", "3.11", "3.12", "3.13"}


def test_the_image_runs_as_a_user_keeps_its_data_and_reports_its_health() -> None:
    found = instructions()
    (user,) = found["USER"]
    assert user != "root"
    assert f"useradd --uid 1000 --create-home {user}" in found["RUN"][-1]
    (volume,) = found["VOLUME"]
    settings = dict(each.split("=", 1) for each in " ".join(found["ENV"]).split())
    named = {name: value for name, value in settings.items() if name.startswith("ANSWERABLE_")}
    assert set(named) <= VARIABLES
    assert all(value.startswith(f"{volume}/") for value in named.values())
    assert "/health" in found["HEALTHCHECK"][0]
    assert found["EXPOSE"] == ["8000"]


def test_the_command_of_the_image_is_one_that_there_is() -> None:
    name, *arguments = json.loads(instructions()["CMD"][0])
    group = get_group(app)
    with group.make_context("answerable", []) as context:
        command = group.get_command(context, name)
        assert command
        given = command.make_context(name, arguments, parent=context).params
    assert given["host"] == "0.0.0.0"
    assert given["port"] == 8000
    assert str(given["keys"]) == "/data/keys.json"


@pytest.mark.parametrize("path", COMPOSED, ids=lambda path: path.name)
def test_services_are_healthy_one_after_the_other_and_for_this_machine_only(path: Path) -> None:
    text = path.read_text("utf-8")
    composed: dict[str, Any] = yaml.safe_load(text)
    services = composed["services"]
    store, server = services.values()
    assert list(services)[1] == "server"
    assert store["healthcheck"]["test"]
    assert server["build"] == "."
    assert server["depends_on"] == {next(iter(services)): {"condition": "service_healthy"}}
    assert server["read_only"]
    assert server["cap_drop"] == ["ALL"]
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        assert {volume.split(":")[0] for volume in service["volumes"]} <= set(composed["volumes"])
        assert service["restart"] == "unless-stopped"
    assert {name for name in server["environment"] if name.startswith("ANSWERABLE_")} <= VARIABLES
    assert next(iter(services)) in server["environment"]["ANSWERABLE_LIBRARY"]
    # What its head tells to run names services that there are, and a secret that is needed is asked for.
    for names in re.findall(r"docker compose (?:run --rm|up --wait) ?(\w*)", text):
        assert not names or names in services
    (secret,) = re.findall(r"\$\{(\w+):\?", text)
    assert f"export {secret}=" in text
