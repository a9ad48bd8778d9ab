"""What `exact_max_chunks` should be on this machine."""
