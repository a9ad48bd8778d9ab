"""The markdown files of an agent: reading, editing, history, snapshots, search by words."""
