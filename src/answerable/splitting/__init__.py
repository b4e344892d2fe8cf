"""Document → chunks with exact offsets, as suits its type."""

from typing import TYPE_CHECKING

from answerable.exports import exported_from

__all__ = [
    "ChatSplitter",
    "CodeSplitter",
    "HeadingSplitter",
    "RecordSplitter",
    "RecursiveSplitter",
    "SentenceSplitter",
    "SplitterByType",
    "TokenSplitter",
]

if TYPE_CHECKING:
    from answerable.splitting.by_type import SplitterByType
    from answerable.splitting.chat import ChatSplitter
    from answerable.splitting.code import CodeSplitter
    from answerable.splitting.headings import HeadingSplitter
    from answerable.splitting.records import RecordSplitter
    from answerable.splitting.recursive import RecursiveSplitter
    from answerable.splitting.sentences import SentenceSplitter
    from answerable.splitting.tokens import TokenSplitter
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "ChatSplitter": "chat",
            "CodeSplitter": "code",
            "HeadingSplitter": "headings",
            "RecordSplitter": "records",
            "RecursiveSplitter": "recursive",
            "SentenceSplitter": "sentences",
            "SplitterByType": "by_type",
            "TokenSplitter": "tokens",
        },
    )
