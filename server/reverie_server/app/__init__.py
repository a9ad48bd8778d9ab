"""The composition root, and the processes that it runs in."""
