"""Patterns for control tokens of chat templates and for speakers' names as in transcripts.

In a document, both are always fake.
"""

from __future__ import annotations

import re

LONGEST_TOKEN = 64

# Names in angle brackets that are single tokens in vocabularies and templates of open models.
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
