"""Benchmarks that compare the project with others; those of the project itself are `reverie bench`."""
