"""The public names of the package."""

from answerable.splitting.by_type import ChatSplitter as ChatSplitter
from answerable.splitting.by_type import CodeSplitter as CodeSplitter
from answerable.splitting.by_type import HeadingSplitter as HeadingSplitter
from answerable.splitting.by_type import RecordSplitter as RecordSplitter
from answerable.splitting.by_type import SplitterByType as SplitterByType
from answerable.splitting.recursive import RecursiveSplitter as RecursiveSplitter
from answerable.splitting.recursive import SentenceSplitter as SentenceSplitter
from answerable.splitting.recursive import TokenSplitter as TokenSplitter
