"""Agents: who they are, whose team they belong to, and their settings."""
