"""A made memory of any size."""
