"""SOUL.md: who the agent is to those whose memory it is, written anew as that memory grows."""
