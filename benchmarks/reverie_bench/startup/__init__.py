"""The start-up benchmark."""
