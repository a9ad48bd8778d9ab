"""MEMORY.md: saving, correcting, compaction, and the guard over what a model proposes."""
