"""Consolidation: conversations become lasting memory in the background, one stage after the other."""
