"""The Reverie server: recall, workspace, HTTP and the command line over the indexer."""
