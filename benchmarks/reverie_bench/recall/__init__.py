"""The recall benchmark, and how relevance is calibrated."""
