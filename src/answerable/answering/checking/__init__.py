"""Check a model's answer: tie every sentence to a verbatim span of a passage, or reject the sentence."""
