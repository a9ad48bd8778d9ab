"""Reverie beside what users would pick instead, in one run: `python -m benchmarks.peers --data PATH`."""
