"""Episodes: completed messages of a conversation as a summary, an abstract and key topics."""
