"""Pictures of result files."""
