"""The texts that WhatsApp itself writes into exported chats."""
