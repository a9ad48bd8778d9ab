"""What people ask to have remembered, and to have forgotten."""
