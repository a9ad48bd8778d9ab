"""One of two twins: the async one is the source, and `client/generate_sync.py` makes the sync one of it."""
