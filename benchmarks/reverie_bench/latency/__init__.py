"""The latency benchmark."""
