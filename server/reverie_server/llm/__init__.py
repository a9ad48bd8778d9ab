"""The language model: its endpoint, prompts, answers and budget."""
