"""The HTTP interface: request and response models, and thin routes over the functions that MCP and the CLI use too."""
