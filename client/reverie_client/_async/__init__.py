"""The async client. `client/generate_sync.py` makes the sync client from these files."""
