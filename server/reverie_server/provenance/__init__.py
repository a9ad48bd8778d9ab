"""Where each line of memory comes from, and what was forgotten and may not come back."""
