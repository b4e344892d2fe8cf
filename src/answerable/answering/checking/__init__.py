"""What a model wrote, against the passages it was given: every sentence tied to a verbatim span, or found out."""
