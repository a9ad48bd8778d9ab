"""The settings of the server and of agents, and the names that they may have."""
