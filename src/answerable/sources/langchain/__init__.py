"""Collections made by LangChain's PGVector."""
