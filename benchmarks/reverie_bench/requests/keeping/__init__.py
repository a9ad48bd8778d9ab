"""Talks in which somebody asks to remember something (`talks.keeping` reads them), tried by `__main__`."""
