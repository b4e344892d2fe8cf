"""The check of a model's answer: every sentence is tied to a verbatim span of a passage, or rejected."""
