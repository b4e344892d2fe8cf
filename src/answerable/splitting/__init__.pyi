"""The public names of the package."""

from answerable.splitting.by_type import SplitterByType as SplitterByType
from answerable.splitting.chat import ChatSplitter as ChatSplitter
from answerable.splitting.code import CodeSplitter as CodeSplitter
from answerable.splitting.headings import HeadingSplitter as HeadingSplitter
from answerable.splitting.records import RecordSplitter as RecordSplitter
from answerable.splitting.recursive import RecursiveSplitter as RecursiveSplitter
from answerable.splitting.sentences import SentenceSplitter as SentenceSplitter
from answerable.splitting.tokens import TokenSplitter as TokenSplitter
