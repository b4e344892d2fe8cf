"""Mail: messages, mailboxes and attachments."""
