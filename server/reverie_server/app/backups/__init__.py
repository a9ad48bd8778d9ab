"""Backups and what leads back from them: files, base backups and the archive of the log, by hand and by the clock."""
