"""Beside a server the long work of jobs gives way to requests, by the system's own figures."""

from __future__ import annotations

import os
import sys

import psutil
import pytest
from tests.chaos.supervised import Program

from reverie_indexer.background_threads import NICENESS


def niceness_of_threads(process: psutil.Process) -> set[int]:
    return {os.getpriority(os.PRIO_PROCESS, thread.id) for thread in process.threads()}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
def test_the_threads_of_the_worker_have_a_lower_priority_than_the_server(conninfo: str) -> None:
    program = Program("serve", "--port", "0", REVERIE_DATABASE_URL=conninfo)
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    lower = min(19, usual + NICENESS)
    try:
        program.until(lambda: len(program.children()) == 2)
        server, worker = sorted(program.children(), key=lambda process: process.create_time())
        program.until(lambda: lower in niceness_of_threads(worker))
        assert os.getpriority(os.PRIO_PROCESS, worker.pid) == usual, "the loop holds transactions"
        assert niceness_of_threads(server) == {usual}
    finally:
        program.stop()
