"""What relevance is by an embedding model that no constants were fitted for."""
