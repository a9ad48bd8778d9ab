"""Episodes: a completed stretch of a conversation as a summary, an abstract and key topics."""
