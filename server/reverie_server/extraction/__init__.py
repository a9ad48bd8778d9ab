"""Extraction: what a completed conversation says goes into the files of its owner."""
