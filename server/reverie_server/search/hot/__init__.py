"""Slices of memory held by the process: what a search ranks by, and no texts."""
