"""Three nodes with Citus: REVERIE_TEST_CITUS names the archive (or its directory) that is unpacked over PostgreSQL.

Where it is not set the tests are left out, and say so; where it is, nodes that do not start are a failure.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.citus.failures import tell
from tests.citus.nodes import NodeDatabases, Nodes, started_nodes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of nodes are marked, and run in one worker: three nodes are enough for two cores."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.citus)
            item.add_marker(pytest.mark.xdist_group("citus"))


@pytest.fixture(scope="session")
def nodes() -> Iterator[Nodes]:
    """A coordinator and two workers, without a database of the program's."""
    citus = os.environ.get("REVERIE_TEST_CITUS")
    if not citus:
        pytest.skip("the tests on several nodes are left out: REVERIE_TEST_CITUS names no archive of Citus")
    with started_nodes(Path(citus).resolve()) as nodes:
        yield nodes


@pytest.fixture
def nodes_conninfo(nodes: Nodes) -> Iterator[str]:
    """An empty database of all three nodes, as it is reached on the coordinator; gone after the test."""
    name = f"test_{uuid.uuid4().hex[:16]}"
    yield nodes.create(name)
    nodes.drop(name)


@pytest.fixture
def database_name() -> str:
    """The name of the distributed database."""
    return f"test_{uuid.uuid4().hex[:16]}"


@pytest.fixture(scope="session")
def node_databases(nodes: Nodes) -> NodeDatabases:
    """What makes distributed databases, clones of one that is made once."""
    return NodeDatabases(nodes)


@pytest.fixture
def distributed(node_databases: NodeDatabases, database_name: str) -> Iterator[str]:
    """A distributed database without a memory, on the coordinator; gone after the test."""
    yield node_databases.create(database_name)
    node_databases.drop(database_name)


@pytest.fixture
def recovering(distributed: str) -> Iterator[str]:
    """A distributed database where Citus itself ends what is prepared, every second."""
    tell(distributed, "ALTER SYSTEM SET citus.recover_2pc_interval = 1000", "SELECT pg_reload_conf()")
    yield distributed
    tell(distributed, "ALTER SYSTEM RESET citus.recover_2pc_interval", "SELECT pg_reload_conf()")
