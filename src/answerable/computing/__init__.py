"""Answers that are computed: counts, totals and lists from tables and chats, summaries, facts about the library."""
