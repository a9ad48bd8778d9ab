"""The HTTP interface: wire models and thin routes over the same functions that MCP and the command line use."""
