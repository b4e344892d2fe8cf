"""Adds sources to the library: reads, splits, embeds and stores their documents.

`answerable add PATH`: `Library.add` → `FollowedSources.add` (followed_sources.py) opens a visit of the folder, file or
site → `SyncRun.visit` compares each file or page with its sync record → `Ingestion.take` (ingest.py) splits
the new and changed documents (prepare.py), embeds them in batches and writes them. Workers (worker_pool.py) may read,
split and embed ahead; only the main process writes. `AddReport` (reports.py) counts what happened.

`answerable sync`: the same visit for every followed origin, after which `SyncRun.tidy` removes documents whose source
is gone; documents that are found at another source count as moved.
"""
