"""Computed answers: counts, totals and lists from tables and chats, summaries, and facts about the library."""
