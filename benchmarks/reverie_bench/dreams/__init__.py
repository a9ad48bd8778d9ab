"""A made-up year of nights: what consolidation keeps, finds and forgets."""
