"""What people read: a passage with its surroundings, sources, episodes."""
