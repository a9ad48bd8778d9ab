"""Threads of a process that works in the background, beside one that answers requests on the same processors.

The event loop keeps its priority: it holds transactions that others wait for. What takes long is done in threads, and
these give way.
"""

from __future__ import annotations

import os
import sys
import threading

# A thread that wants a processor gets a tenth of what one with the usual priority gets, and all that is left over.
NICENESS = 10
_NICEST = 19
_gives_way = threading.Event()


def give_way() -> None:
    """From now on the threads that `begin_thread` begins have a lower priority."""
    _gives_way.set()


def begin_thread() -> None:
    """The first act of a thread that does long work. Only Linux has a priority for each thread."""
    if _gives_way.is_set() and sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, min(_NICEST, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS))
