"""Hybrid search: candidates by words and by meaning, one ranked list."""
