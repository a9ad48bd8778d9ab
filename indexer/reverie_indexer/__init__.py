"""Markdown in, searchable chunks out: chunk, analyse, embed, store."""
