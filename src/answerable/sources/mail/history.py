"""The text of a message → what its sender wrote in it: without quoted messages and without the signature.

The quoted messages are documents of their own, if they are in the library. One that is forwarded stays: often it is
nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST_ATTRIBUTION = 300
_LINES_OF_ATTRIBUTION = 4
_QUOTE = re.compile(r"[ \t]*(?:>|\|(?=\s*>))")
# "On 5 March 2024 at 21:15, Ana <ana@example.org> wrote:"
_ATTRIBUTION = re.compile(
    r"[\s*_]*(?:On|El|Em|Le|Am|Il|Op|A|No dia|O|At|Den)\b(?=.*(?:\d|@)).{4,}?"
    r"\b(?:wrote|writes|said|escribi[oó]|escribe|escreveu|va escriure|a écrit|schrieb|ha scritto|skrev)"
    r"\b[^:\n]{0,80}:[\s*_]*$",
    re.IGNORECASE,
)
# "Ana <ana@example.org> wrote:", "Ana <ana@example.org> (5 March 2024):"
_NAMED = re.compile(
    r"[^\n]{0,150}[<(\[][^<>\s]+@[^<>\s]+[>)\]][^\n]{0,60}"
    r"\b(?:wrote|writes|escribi[oó]|escribe|escreveu|a écrit|schrieb|ha scritto)\b[^:\n]{0,60}:[\s*_]*$",
    re.IGNORECASE,
)
_BEGINS_ATTRIBUTION = re.compile(
    r"[\s*_]*(?:(?:On|El|Em|Le|Am|Il|Op|A|No dia|O|At|Den)\b|[^\n]{0,150}[<(\[][^<>\s]+@)", re.IGNORECASE
)
_ORIGINAL = re.compile(
    r"[\s*_>]*-{2,}\s*(?:Original Message|Original Appointment|Mensaje original|Mensagem [Oo]riginal|Missatge original|"
    r"Message d'origine|Ursprüngliche Nachricht|Messaggio originale|Oorspronkelijk bericht|Reply message)\s*-{2,}",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"[\s*_>]*(?:-{2,}\s*(?:Forwarded|Mensaje reenviado|Mensagem encaminhada|Mensagem reencaminhada|Missatge reenviat)"
    r"|Begin forwarded message:|Inicio del mensaje reenviado:|Início da mensagem reencaminhada:)",
    re.IGNORECASE,
)
_FORWARDS = re.compile(r"\s*(?:fwd?|rv|enc|res?env|tr|wg|i)\s*:", re.IGNORECASE)
# The head of a message that Outlook quotes.
_FROM = re.compile(r"[\s*_]*(?:From|De|Von|Da|Van)\s*\**:\**\s*\S", re.IGNORECASE)
_SENT = re.compile(
    r"[\s*_]*(?:Sent|Date|Enviado(?: el| em)?|Enviada(?: em)?|Fecha|Data|Gesendet|Envoyé|Inviato|Verzonden)\s*\**:",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*[_-]{10,}\s*$")
_SIGNATURE = re.compile(r"--\s?$")
_SENT_FROM = re.compile(
    r"[\s*_]*(?:Sent from (?:my|Mail for|Yahoo|Outlook|Proton)|Get Outlook for|Enviado desde (?:mi|Outlook|Yahoo)|"
    r"Obtener Outlook para|Enviado do meu|Enviado a partir do|Obter o Outlook para)[^\n]{0,80}$",
    re.IGNORECASE,
)


def own_text(text: str, subject: str = "") -> str:
    """Return what the sender wrote, or the whole text if nothing else is in it."""
    lines = text.split("\n")
    kept = "\n".join(_kept(lines, bool(_FORWARDS.match(subject))))
    kept = re.sub(r"\n{3,}", "\n\n", kept).strip("\n")
    return kept if kept.strip() else text.strip("\n")


def _kept(lines: list[str], is_forward: bool) -> Iterator[str]:
    number = 0
    in_signature = False
    while number < len(lines):
        line = lines[number]
        if _FORWARDED.match(line):
            yield from lines[number:]
            return
        if _is_head(lines, number) or _ORIGINAL.match(line):
            if is_forward:
                yield from lines[number:]
            return
        if _QUOTE.match(line):
            in_signature = False
            number += 1
            continue
        if length := _attribution(lines, number):
            if not _is_quoted(lines, number + length):
                # Above a message that isn't marked line by line.
                return
            number += length
            continue
        in_signature = in_signature or bool(_SIGNATURE.match(line))
        if not (in_signature or _SENT_FROM.match(line)):
            yield line
        number += 1


def _is_head(lines: list[str], number: int) -> bool:
    """Whether the head of a quoted message begins here, perhaps with a rule above it."""
    if _RULE.match(lines[number]):
        number += 1
    if number >= len(lines) or not _FROM.match(lines[number]):
        return False
    return any(_SENT.match(line) for line in lines[number + 1 : number + 4])


def _attribution(lines: list[str], number: int) -> int:
    """Return how many lines, from this one on, say who wrote what is quoted below; mail programs break them."""
    if not _BEGINS_ATTRIBUTION.match(lines[number][:_LONGEST_ATTRIBUTION]):
        return 0
    joined = ""
    for length, line in enumerate(lines[number : number + _LINES_OF_ATTRIBUTION], 1):
        if not line.strip() or len(joined) + len(line) > _LONGEST_ATTRIBUTION:
            return 0
        joined = f"{joined} {line.strip()}" if joined else line.strip()
        if joined.endswith((":", "*", "_")) and (_ATTRIBUTION.match(joined) or _NAMED.match(joined)):
            return length
    return 0


def _is_quoted(lines: list[str], number: int) -> bool:
    """Whether the next line that says something is marked as quoted."""
    below = next((line for line in lines[number:] if line.strip()), ">")
    return _QUOTE.match(below) is not None
