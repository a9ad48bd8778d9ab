"""The ingest benchmark."""
