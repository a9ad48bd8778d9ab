"""The Memory Browser: pages on which people look into a memory and put it right. They call what routes call."""
