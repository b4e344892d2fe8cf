"""Exports of chats from apps other than WhatsApp, read as documents that all have the same shape."""
