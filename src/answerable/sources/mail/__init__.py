"""Mail: messages, mailboxes and what is attached."""
