"""Dreaming: what several conversations come to goes into one file a day."""
