"""The proxy for OpenAI's protocol: memory in, the caller's request on, what was said into a session."""
