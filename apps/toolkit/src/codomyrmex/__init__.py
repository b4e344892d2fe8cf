"""The toolkit; what this repository holds of it is `codomyrmex.llm.rag`."""
