"""What a worker beside a server does in threads gives way to requests; what its event loop does and starts does not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from reverie_indexer.background_threads import NICENESS

LOOK = """
import asyncio, json, os, sys, threading
import numpy as np
from reverie_indexer.background_threads import give_way
from reverie_indexer.embed.worker import BatchLimits, BatchWorker
from reverie_server.app.databases import _in_new_thread
from reverie_server.app.worker import count_threads

def niceness():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

def encode(texts):
    return np.full((len(texts), 1), niceness(), np.float32)

async def look(gives_way):
    if gives_way:
        give_way()
    count_threads()
    worker = BatchWorker(encode, BatchLimits())
    [[embedding]] = await worker.embed(["text"])
    await worker.aclose()
    return {
        "loop": niceness(),
        "job": await asyncio.to_thread(niceness),
        "embedding": int(embedding),
        "starts the database": await _in_new_thread(niceness),
    }

print(json.dumps(asyncio.run(look(sys.argv[1] == "worker"))))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
@pytest.mark.parametrize(("process", "more"), [("server", 0), ("worker", NICENESS)])
def test_threads_of_a_worker_give_way_and_its_loop_does_not(process: str, more: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, process], capture_output=True, text=True, timeout=120, check=True
    )
    found = json.loads(done.stdout)
    usual, lower = found["loop"], min(19, found["loop"] + more)
    assert found == {"loop": usual, "job": lower, "embedding": lower, "starts the database": usual}
