"""`python -m tests.citus ARCHIVE`: three nodes until Ctrl-C, with an empty database whose address is printed."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from pathlib import Path

from tests.citus.nodes import started_nodes

if __name__ == "__main__":
    with started_nodes(Path(sys.argv[1]).resolve()) as nodes:
        print(nodes.create("reverie_nodes"), flush=True)
        with suppress(KeyboardInterrupt):
            signal.pause()
