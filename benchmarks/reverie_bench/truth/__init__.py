"""Scripted lives: what memory holds for true, for current and for worth keeping."""
