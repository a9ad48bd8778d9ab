"""Who calls, and what they may do: keys, roles, and the one gate in front of every agent's memory."""
