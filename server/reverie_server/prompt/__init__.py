"""The prompt of a turn: files, memory and the window of the conversation; compaction of a session."""
