"""What users ask memory in a conversation to keep or to forget: whether they ask, and which statements they mean."""
