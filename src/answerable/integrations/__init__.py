"""Answerable's library as a retriever of other frameworks. Import the module of yours; it needs that framework."""
