"""Conversations as they are stored: messages, the daily log, when a conversation is complete."""
