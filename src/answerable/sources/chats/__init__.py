"""Exports of chats other than WhatsApp's, each as a document of the same shape."""
