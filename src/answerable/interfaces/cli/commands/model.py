"""`answerable model`: show, try and keep the model that writes answers, with its provider's address and key."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict
from getpass import getpass
from typing import TYPE_CHECKING, Annotated, Any, Optional

from typer import Argument, Option

from answerable.errors import AnswerableError, SettingsError, how_to_install
from answerable.interfaces.cli.options import JsonOption, Text
from answerable.interfaces.cli.printing import print_json, print_progress, print_rows
from answerable.settings import Settings, load_settings, set_by

if TYPE_CHECKING:
    from answerable.wiring.providers import Provider


def model(
    name: Annotated[
        Optional[list[str]],
        Argument(metavar="MODEL", help="extractive, openai:NAME, ollama:NAME, cohere:NAME (default: show it)."),
    ] = None,
    address: Annotated[Text, Option(metavar="URL", help="Its provider's server; empty: the usual one.")] = None,
    key: Annotated[bool, Option("--key", help="Ask for its provider's key (or read a pipe) and keep it.")] = False,
    forget_key: Annotated[bool, Option("--forget-key", help="Remove the key that is kept for its provider.")] = False,
    no_test: Annotated[bool, Option("--no-test", help="Keep it without a call to the model.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Choose the model that writes answers: it is tried with a tiny question, then kept for all commands.

    Without arguments: show the model, what leaves this machine, its price, and the models that you could choose.
    """
    if len(name or ()) > 1 or (key and forget_key):
        # Don't repeat what was typed: it may be a key.
        raise SettingsError(
            "Name one model, and give --key or --forget-key. Type no key here, which the shell would keep: --key asks."
        )
    chosen = (name or [""])[0]
    if chosen or key or forget_key or address is not None:
        _keep(chosen, address, key, forget_key, no_test or forget_key)
    found = _found(load_settings(), with_models=not chosen)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _keep(chosen: str, address: str | None, key: bool, forget_key: bool, untried: bool) -> None:
    from answerable.wiring.model_setup import changes, keep, overridden, try_model
    from answerable.wiring.providers import EXTRACTIVE, PROVIDERS, is_model

    settings = load_settings()
    wanted = chosen or settings.model
    provider = wanted.partition(":")[0]
    if not chosen and wanted == EXTRACTIVE:
        raise SettingsError("No model is set. Name one too, such as openai:gpt-5-nano.")
    if not is_model(settings, wanted):
        known = ", ".join(f"{each}:NAME" for each in PROVIDERS)
        raise SettingsError(f"That names no provider. Use {EXTRACTIVE}, {known}, or a plug-in (`answerable plugins`).")
    given = _typed_key(provider) if key else "" if forget_key else None
    kept = {} if given is address is None else changes(settings, provider, given, address)
    if chosen and not forget_key:
        kept["model"] = chosen
    trial = load_settings({**kept, "model": wanted})
    if wanted != EXTRACTIVE and not untried:
        print_progress(f"asking {wanted}")
        try_model(trial)
    keep(kept)
    for each, value in kept.items():
        if by := overridden(each):
            print_progress(f"{by} sets {each} too, and comes first: remove it there to use what was kept now")
        elif not value and getattr(settings, each):
            print_progress(f"the kept {each} is forgotten; answerable model {provider} --key keeps another")


def _typed_key(provider: str) -> str:
    """Read a key without showing it, or a line of standard input if that is no terminal."""
    line = ""
    with suppress(EOFError):
        line = getpass(f"The key of {provider} (not shown): ") if sys.stdin.isatty() else sys.stdin.readline()
    if not line.strip():
        raise SettingsError("No key was given. Type it where --key asks for it, or send it to standard input.")
    return line


def _found(settings: Settings, with_models: bool) -> dict[str, Any]:
    from answerable.wiring.providers import providers, sending

    found = {
        "model": settings.model,
        "set_by": set_by("model"),
        **asdict(sending(settings, settings.model)),
        "embedder": settings.embedder,
        "embedder_host": sending(settings, settings.embedder).host,
    }
    if with_models:
        found["providers"] = [_provider(settings, each) for each in providers(settings)]
    return found


def _provider(settings: Settings, found: Provider) -> dict[str, Any]:
    """Return a provider; only Ollama's server is asked for its models, which is free and needs no key."""
    from answerable.wiring.providers import KEY_OF, listed_models

    models, problem = [], found.needs
    if found.name == "ollama" and not problem:
        try:
            models = listed_models(settings, found.name)
        except AnswerableError as error:
            problem = str(error)
    key_by = set_by(KEY_OF[found.name]) if found.has_key else ""
    return {**asdict(found), "needs": problem, "models": models, "key_by": key_by}


def _print(found: dict[str, Any]) -> None:
    from answerable.wiring.providers import EXTRACTIVE

    by = found["set_by"]
    rows = [
        ("model", f"{found['model']} ({f'set by {by}' if by else 'the default'})"),
        ("leaves", _leaves(found)),
    ]
    if found["embedder_host"]:
        rows.append(("", f"Documents and questions are also sent to {found['embedder_host']}, to be embedded."))
    if found["price"]:
        rows.append(("price", _price(found["price"])))
    listed = found.get("providers", ())
    for each in listed:
        price = f"; {each['model']}: {_price(each['price'])}" if each["price"] else ""
        rows.append((each["name"], f"{_state(each)}{price}"))
    ollama = next((model for each in listed for model in each["models"]), "ollama:NAME")
    if listed and found["model"] == EXTRACTIVE:
        rows.append(("next", f"answerable model {ollama}, or answerable model openai:gpt-5-nano --key"))
    elif found["model"] != EXTRACTIVE:
        rows.append(("next", 'answerable ask "…"; back to quotes: answerable model extractive'))
    print_rows(rows)


def _leaves(found: dict[str, Any]) -> str:
    from answerable.wiring.providers import EXTRACTIVE

    host, model = found["host"], found["model"]
    if model == EXTRACTIVE:
        return "Nothing leaves this machine: answers are quotes."
    if not host:
        return f"The plug-in {model} decides what leaves this machine."
    if not found["is_here"]:
        return f"Your question, the conversation, and passages of your documents, are sent to {host}."
    if model.startswith("ollama"):
        return f"Nothing leaves this machine: Ollama runs at {host}."
    return f"Nothing leaves this machine if the server at {host} runs the model itself."


def _price(price: tuple[float, float]) -> str:
    return "${:g} per million tokens read, ${:g} written".format(*price)


def _state(found: dict[str, Any]) -> str:
    models = [model.partition(":")[2] for model in found["models"]]
    if found["name"] == "ollama" and not found["needs"]:
        return f"answers at {found['host']}: {', '.join(models) or 'no models; ollama pull NAME fetches one'}"
    if found["has_key"]:
        return f"has a key ({found['key_by']}) for {found['host']}"
    if not found["needs"]:
        return f"ready, at {found['host']}" if found["host"] else "ready"
    if found["has_key"] is False:
        return f"no key: answerable model {found['model']} --key"
    extra = str(found["needs"]).removeprefix("answerable[").removesuffix("]")
    return how_to_install(extra) if extra != found["needs"] else extra
