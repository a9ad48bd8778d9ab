"""Forgetting and clearing, over every store."""
