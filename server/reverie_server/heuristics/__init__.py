"""Analysis of texts without a model: their cues, entries, statements and grounding."""
