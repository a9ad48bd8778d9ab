"""The scale benchmark."""
