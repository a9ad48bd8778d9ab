"""Finding memory again: search the channels, rank what they found."""
