"""Sources → stored passages: add, sync, workers."""
