"""The memory as people read it: a passage with its surroundings, sources, episodes."""
