"""What replaces what: the rules between facts, and the sentences that tell a change."""
