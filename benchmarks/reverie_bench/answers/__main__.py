"""Fits the query adapters, and shows what they find of lives that they were not fitted to: see `fit`."""

from __future__ import annotations

import asyncio

from reverie_bench.answers.fit import main

asyncio.run(main())
