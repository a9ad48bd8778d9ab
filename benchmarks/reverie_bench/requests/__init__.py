"""Fits what a request to remember or to forget is known by."""
