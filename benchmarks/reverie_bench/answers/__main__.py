"""Learns the adapters for questions and messages, and shows what they find of held lives: see `fit`."""

from __future__ import annotations

import asyncio
import sys

from reverie_bench.answers.fit import main

asyncio.run(main(*sys.argv[1:3]))
