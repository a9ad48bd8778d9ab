"""What can be told of a text without a model: its cues, what it states, what it is grounded in."""
