"""Plain sentences about what holds in people's lives, and what the patterns read of them."""
