"""Conversations: sessions and their messages, the prompt of a turn, compaction."""
