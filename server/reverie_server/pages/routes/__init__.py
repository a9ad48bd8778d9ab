"""The pages, one file for each subject."""
