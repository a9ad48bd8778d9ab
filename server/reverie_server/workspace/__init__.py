"""An agent's files: edits of their text, and reading, writing and undoing them."""
