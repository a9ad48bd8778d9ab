"""The injection benchmark."""
