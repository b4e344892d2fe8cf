"""Reading exports of WhatsApp chats."""
