"""Text without a meaning: markdown, fences, control characters, redaction, tokens; and what every room needs."""
