"""From text to passages and their terms."""
