"""A second look at the best results, by a model that reads the query and a passage together."""
