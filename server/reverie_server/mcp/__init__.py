"""The tools over MCP: one server object, on streamable HTTP and on stdio."""
