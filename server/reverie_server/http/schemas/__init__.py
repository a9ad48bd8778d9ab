"""Request and response models, one file for each subject."""
