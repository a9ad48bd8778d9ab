"""Emergence: what notes hold and people keep asking for enters the long-term memory."""
