"""Put this folder on the path: the folders below share `processes` and `crash_processes`."""
