"""The prompt benchmark."""
