"""Worker processes that read, split and embed, on this machine or on a Ray cluster.

`worker_pool.py` is what ingestion uses: it reads files ahead and embeds passages. `jobs.py` is the queue behind it;
`processes.py` and `ray_cluster.py` are the two kinds of workers.
"""
