"""Auto-injection: what of memory goes into a turn's prompt."""
