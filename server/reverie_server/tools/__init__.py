"""Tools for agents: one registry, which HTTP and MCP serve."""
