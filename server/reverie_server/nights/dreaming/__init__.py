"""Dreaming: writes the lines that follow from several conversations into one file a day."""
