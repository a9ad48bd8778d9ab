"""Measures retrieval on data that nobody here wrote. Nothing of the server imports it but `reverie bench`."""
