"""The stages of the night: emergence and dreaming, their diary and reports."""
