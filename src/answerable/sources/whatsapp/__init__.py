"""Exports of WhatsApp chats."""
