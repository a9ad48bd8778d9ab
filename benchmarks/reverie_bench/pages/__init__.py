"""What a page of the Memory Browser costs."""
