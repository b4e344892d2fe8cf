"""Build the messages for a chat model: rules, earlier exchanges, passages, question; each within its token budget.

Each passage has a number and is enclosed in tags that no passage can imitate. The tags are fixed, so that providers can
cache the prompt. In a passage, lookalikes of the tags and control tokens of chat templates lose their brackets, a line
that looks like a turn ("Human:") gets a space before it, and hidden characters are removed (see
`text.characters.is_hidden`). The rest is unchanged, so that quotes can still be found in the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath, PureWindowsPath

from answerable.answering.found import Asked
from answerable.datatypes import Exchange, Part, RetrievalResult
from answerable.formats.locate import Named, shown_source
from answerable.protocols import Message
from answerable.text.characters import EMOJI, ESCAPE, LINE_ENDS, is_hidden

LONGEST_TOKEN = 64
"""Maximum number of characters in a control token; the tokens of known models have fewer."""

# Names that, in angle brackets, are single tokens in the vocabularies and templates of open models.
_NAMES = """
s sys bos eos pad unk mask sep cls sop eop eot eod image audio video think tool_call tool_calls tool_response
tool_result tool_results tools function_call function_calls function_results invoke system user assistant human
developer tool instructions system_prompt bos_token eos_token endoftext fim_prefix fim_middle fim_suffix
fim_pad commit_before reserved_token antml
""".split()
_NAMED = (
    rf"(?:{'|'.join(sorted(_NAMES))}|(?:start|begin|end)_of_\w{{1,24}}|(?:extra_id|unused)_?\d{{1,4}}|antml:\w{{1,24}})"
)
_BRACKETED = r"""
    \[ /? (?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG|IMG_BREAK|IMG_END
    |BOS|EOS|gMASK|sMASK|system|assistant|user|human|developer) \]
    | \[ [|｜] [^|｜\[\]\n\0]{1,40} [|｜] \]
"""
_ANGLED = rf"""
    <[|｜] [^|｜<>\n]{{1,{LONGEST_TOKEN - 4}}} [|｜]>
    | <<\s?/?\s?SYS\s?>>
    | <\s?/?\s?{_NAMED}\s?/?>
"""
TOKEN = re.compile(rf"(?:{_ANGLED})|(?:{_BRACKETED})", re.VERBOSE | re.IGNORECASE)

ROLE = "(?:system|assistant|user|human|developer|sistema|asistente|assistente|usuario|usuário|humano)"


_OPENER = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_SELECTORS = "\ufe0e\ufe0f"
_JOINER = "\u200d"
# Scripts that need joiner characters: Arabic and related scripts, scripts of India.
_JOINING = re.compile(r"[\u0600-\u08ff\u0900-\u0dff]")
_JOINERS = "\u200c\u200d"

LONGEST_NAME = 160
"""Characters of a title or source in a tag. A round number, not measured."""
CountTokens = Callable[[Sequence[str]], list[int]]

_TAG = re.compile(r"[<＜﹤]\s*(?:[/\\]\s*)?passage[^<>\n]{0,80}[>＞﹥]?", re.IGNORECASE)
_WITHOUT_BRACKETS = str.maketrans("<>[]＜＞﹤﹥", "()()()()")
_TURN = re.compile(
    rf"(?m)^(?=[#>*_]{{0,4}}[ ]?(?:{ROLE}|(?:instruction|response|input)s?)\s?[*_]{{0,2}}[:：])", re.IGNORECASE
)
_WEB = re.compile(r"https?://", re.IGNORECASE)
_MARK = re.compile(r"\s*\[\d{1,3}\]")
_NAMES_OF_LANGUAGES = {"en": "English", "es": "Spanish", "pt": "Portuguese"}


@dataclass(frozen=True, slots=True)
class Known:
    """What a model is told besides passages: the local time, and the languages of the library."""

    now: datetime
    languages: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return both in a sentence each."""
        languages = ", ".join(map(_name_of, filter(None, self.languages)))
        said = f" The documents are in {languages}." if languages else ""
        return f"Today is {self.now:%A, %Y-%m-%d}.{said}"


def visible(text: str) -> str:
    """Return the text without hidden characters and terminal escapes.

    Variation selectors and joiners stay in emoji and in scripts that need them. Unusual line ends become line feeds.
    """
    kept: list[str] = []
    for character in ESCAPE.sub("", text):
        if character in LINE_ENDS:
            kept.append("\n")
        elif not _OPENER.match(character) and (not is_hidden(character) or _belongs(character, kept[-1:])):
            kept.append(character)
    return "".join(kept)


def _belongs(character: str, before: list[str]) -> bool:
    """Return whether a character changes the shape of the one before."""
    last = "".join(before)
    if character in _SELECTORS:
        return EMOJI.match(last) is not None
    if character == _JOINER and (last == "\ufe0f" or EMOJI.match(last)):
        return not last.isascii()
    return character in _JOINERS and _JOINING.match(last) is not None


def fence(passages: Sequence[RetrievalResult]) -> str:
    """Return the passages as text, numbered from 1, each in a tag with its title, source and location.

    The source of a file is shown as its name without the folder, that of a web page as its URL.
    """
    return "\n\n".join(fence_one(number, passage) for number, passage in enumerate(passages, 1))


def enclosed(kind: str, text: str) -> str:
    """Return a text that isn't a passage, such as a list of documents, in a tag that nothing in it can close."""
    return f'<passage of="{kind}">\n{harmless(text)}\n</passage>'


def on_one_line(text: str) -> str:
    """Return a short text on one line, harmless, for a list or a message to the model."""
    line = " ".join(harmless(text).split())
    return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}…"


def harmless(text: str) -> str:
    """Return the text without hidden characters, and with tags and turn markers made harmless."""
    text = visible(text)
    for pattern in (_TAG, TOKEN):
        text = pattern.sub(lambda match: match[0].translate(_WITHOUT_BRACKETS), text)
    return _TURN.sub(" ", text)


def fence_one(number: int, passage: RetrievalResult, name: str = "", hidden: Sequence[Part] = ()) -> str:
    """Return a passage in its tag, without its `hidden` parts.

    `name` is the name of its document for the tools; then the tag has its part too.
    """
    document, content, at = passage.document, passage.chunk.content, passage.chunk.start
    for part in reversed(hidden):
        content = content[: max(part.start - at, 0)] + content[max(part.end - at, 0) :]
    attributes = {
        "title": document.title,
        "source": file_of(document),
        "place": str(passage.chunk.location),
        "document": name,
        "part": str(passage.chunk.sequence + 1) if name else "",
    }
    shown = "".join(f' {key}="{short}"' for key, value in attributes.items() if (short := _attribute(value)))
    return f'<passage number="{number}"{shown}>\n{harmless(content)}\n</passage>'


def file_of(document: Named) -> str:
    """Return the name of a document's file without its folder, or the URL of a web page."""
    if _WEB.match(document.source):
        return document.source
    return PurePosixPath(PureWindowsPath(shown_source(document)).name).name


def _attribute(text: str) -> str:
    """Return the text as the value of a tag's attribute: on one line, without characters that end the tag."""
    return on_one_line(text).translate(_WITHOUT_BRACKETS).replace('"', "'")


@cache
def prompt(*names: str) -> str:
    """Return the texts of these prompts, one after the other."""
    folder = files("answerable.answering") / "prompts"
    return "\n\n".join((folder / f"{name}.txt").read_text("utf-8").strip() for name in names)


def fitting(results: Sequence[RetrievalResult], count_tokens: CountTokens, budget: int) -> tuple[RetrievalResult, ...]:
    """Return the best results that together fit in the budget (in tokens); always at least the first."""
    kept: list[RetrievalResult] = []
    spent = 0
    for result, cost in zip(results, count_tokens([fence([result]) for result in results]), strict=True):
        if kept and spent + cost > budget:
            break
        kept.append(result)
        spent += cost
    return tuple(kept)


def remembered(history: Sequence[Exchange], count_tokens: CountTokens, budget: int) -> list[Message]:
    """Return the latest exchanges that fit in the budget (in tokens), oldest first, without their citation marks."""
    found: list[Message] = []
    spent = 0
    for exchange in reversed(history):
        question, answer = exchange.question, harmless(_MARK.sub("", exchange.answer))
        spent += sum(count_tokens([question, answer]))
        if spent > budget:
            break
        found = [Message("user", question), Message("assistant", answer), *found]
    return found


def tool_messages(asked: Asked, shown: str, before: Sequence[Message], known: Known) -> list[Message]:
    """Return the messages that begin a conversation with tools: rules, earlier exchanges, what is shown, question."""
    rules = _in_language(prompt("rules", "tools"), asked.language)
    return [Message("system", rules), *before, Message("user", f"{known}\n\n{shown}\n\nMessage: {asked.message}")]


def planning_messages(question: str, listed: str, before: Sequence[Message], known: Known) -> list[Message]:
    """Return the messages that ask for the question on its own and further searches, as JSON."""
    rules = prompt("plan").replace(
        "{languages}", ", ".join(map(_name_of, filter(None, known.languages))) or "several languages"
    )
    return [Message("system", f"{rules}\n\n{listed}"), *before, Message("user", question)]


def writing_messages(asked: Asked, shown: str, before: Sequence[Message], known: Known) -> list[Message]:
    """Return the messages that ask for evidence and an answer in lines."""
    form = _in_language(prompt("lines"), asked.language)
    message = f"{known}\n\n{shown}\n\n{form}\n\nMessage: {asked.message}"
    return [Message("system", _in_language(prompt("rules"), asked.language)), *before, Message("user", message)]


def collecting_messages(shown: str, about: str) -> list[Message]:
    """Return the messages that ask for the source words of a part of a document about something, or for a summary."""
    asked = harmless(about).strip() or "a summary of the whole document"
    return [Message("system", prompt("collect")), Message("user", f"{shown}\n\nCollect what is needed for: {asked}")]


def checking_messages(pairs: Sequence[tuple[str, Sequence[tuple[str, str]]]], known: Known) -> list[Message]:
    """Return the messages that ask which sentences their source words don't say. A source has its words and place."""
    lines = [str(known)]
    for number, (sentence, sources) in enumerate(pairs, 1):
        lines.append(f"{number}. {harmless(sentence)}")
        lines += [f"   source ({_attribute(place)}): {harmless(text)}" for text, place in sources]
    return [Message("system", prompt("check")), Message("user", "\n".join(lines))]


def _in_language(text: str, language: str) -> str:
    return text.replace("{language}", _name_of(language))


def _name_of(language: str) -> str:
    return _NAMES_OF_LANGUAGES.get(language, f"the language {language!r}" if language else "the message's language")
