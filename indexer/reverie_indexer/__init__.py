"""Markdown in, searchable chunks out: chunk, analyse, embed, store."""

import os

# Before anything imports numpy. Its OpenBLAS has threads of its own, and a fork (`isolate`) while they compute hangs.
# Matrices here are small: more threads would gain little.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
