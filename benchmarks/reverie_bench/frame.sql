-- settle: index-only scans need the visibility map, plans need statistics
VACUUM (ANALYZE);
