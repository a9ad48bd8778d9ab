"""Nodes of Patroni over the embedded PostgreSQL's binaries, with one etcd: a cluster that fails over."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import httpx
import psutil
import pytest
import yaml
from tests.conftest import PLAIN
from tests.ports import free_ports

from reverie_indexer.postgres.account import server_account
from reverie_indexer.postgres.host import read_lock_file, usable_binaries, wheel_binaries

DEPLOY = Path(__file__).parents[2] / "deploy/patroni"
# Those of the files there.
PASSWORD, SUPERUSER_PASSWORD = "PASSWORD", "SUPERUSER-PASSWORD"
# Nothing here is measured: what takes longer than this hangs.
HANGS_SECONDS = 300.0
_SMALL = {"shared_buffers": "16MB", "max_connections": 60, "fsync": "off", "wal_keep_size": "64MB"}


def program(name: str) -> str:
    """A program of the cluster; without it the tests are left out and say so, or fail with REVERIE_TEST_NEEDS_HA.

    REVERIE_TEST_PATRONI is where Patroni's programs are, if not on PATH.
    """
    path = os.pathsep.join([os.environ.get("REVERIE_TEST_PATRONI", ""), os.environ.get("PATH", "")])
    return shutil.which(name, path=path) or _leave_out(f"there is no {name} on PATH")


def _leave_out(reason: str) -> NoReturn:
    if os.environ.get("REVERIE_TEST_NEEDS_HA"):
        pytest.fail(f"failover cannot be tested: {reason}")
    pytest.skip(f"failover is left out: {reason} (make test-ha)")


@dataclass
class Node:
    """A Patroni and its PostgreSQL."""

    name: str
    directory: Path
    port: int
    rest_port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def configuration(self) -> Path:
        """Patroni's."""
        return self.directory / "patroni.yml"

    def state(self) -> dict[str, Any]:
        """What Patroni says of its PostgreSQL; empty when it does not answer."""
        try:
            answer = httpx.get(f"http://127.0.0.1:{self.rest_port}/patroni", timeout=1, verify=PLAIN)
            return dict(answer.json())
        except (httpx.HTTPError, ValueError):
            return {}

    def leads(self) -> bool:
        """Whether it is the primary, and holds the lease."""
        try:
            url = f"http://127.0.0.1:{self.rest_port}/primary"
            return httpx.get(url, timeout=1, verify=PLAIN).status_code == 200
        except httpx.HTTPError:
            return False

    def processes(self) -> list[psutil.Process]:
        """Patroni, and the processes of its PostgreSQL."""
        found: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):
            if self.process is not None:
                found.append(psutil.Process(self.process.pid))
        lock_file = read_lock_file(self.directory / "postgres")
        with suppress(psutil.NoSuchProcess):
            if lock_file is not None:
                postmaster = psutil.Process(lock_file.pid)
                found += [postmaster, *postmaster.children()]
        return found

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of them, as what happens to a machine happens to all."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)


class Patroni:
    """The cluster. Start it in an empty directory, and stop it."""

    def __init__(self, directory: Path, names: Sequence[str] = ("a", "b", "c")) -> None:
        self._directory = directory
        self._account = server_account(directory)
        self._binaries, _ = usable_binaries(wheel_binaries(), directory, self._account)
        self._etcd: subprocess.Popen[bytes] | None = None
        self._etcd_port, self._peer_port, *ports = free_ports(2 + 2 * len(names))
        self.nodes = [Node(name, directory / name, *ports[2 * i : 2 * i + 2]) for i, name in enumerate(names)]

    def start(self) -> None:
        """Until there is a primary with its standbys, and a database of Reverie's."""
        etcd, _ = program("etcd"), program("patroni")
        self._own(self._directory)
        self._etcd = self._run(
            [etcd, "--data-dir", str(self._directory / "etcd"), "--log-level", "error"],
            self._directory / "etcd.log",
            self._environment_of_etcd(),
        )
        for node in self.nodes:
            self._own(node.directory)
            node.configuration.write_text(json.dumps(self._configuration(node)))
            self.start_node(node)
        self.until_whole()
        url = f"postgresql://postgres:{SUPERUSER_PASSWORD}@127.0.0.1:{self.primary().port}/postgres"
        psql = [self._binaries / "bin/psql", "-v", "ON_ERROR_STOP=1", "-f", DEPLOY / "database.sql", url]
        done = subprocess.run(psql, capture_output=True, text=True, timeout=HANGS_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr

    def stop(self) -> None:
        """All of it, at once."""
        for node in self.nodes:
            node.signal(signal.SIGKILL)
            if node.process is not None:
                node.process.wait()
        if self._etcd is not None:
            self._etcd.kill()
            self._etcd.wait()

    @property
    def url(self) -> str:
        """That of Reverie's database: all hosts, of which it takes the primary.

        The present one is the first, so that what happens to it is in the way of the others.
        """
        nodes = sorted(self.nodes, key=lambda node: not node.leads())
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        return f"postgresql://reverie:{PASSWORD}@{hosts}/reverie?target_session_attrs=read-write"

    @property
    def superuser_url(self) -> str:
        """The same for who may see everything."""
        return self.url.replace(f"//reverie:{PASSWORD}@", f"//postgres:{SUPERUSER_PASSWORD}@")

    def primary(self) -> Node:
        """The node with the lease; LookupError while there is none."""
        for node in self.nodes:
            if node.leads():
                return node
        raise LookupError("no node is the primary")

    def start_node(self, node: Node) -> None:
        """Start its Patroni, which starts PostgreSQL."""
        node.process = self._run([program("patroni"), str(node.configuration)], node.directory / "patroni.log")

    def kill_primary(self) -> Node:
        """End the primary and its Patroni, as a machine that loses its power, until another is the primary."""
        node = self.primary()
        assert node.process is not None
        node.signal(signal.SIGKILL)
        node.process.wait()
        others = [other for other in self.nodes if other is not node]
        self.until(lambda: any(other.leads() for other in others), "another primary")
        return node

    def switch_over(self) -> None:
        """Let another node be the primary, in good order."""
        command = [program("patronictl"), "-c", str(self.nodes[0].configuration), "switchover", "reverie"]
        command += ["--leader", self.primary().name, "--force"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr

    def until_whole(self) -> None:
        """Until one node is the primary, and the others follow it, one of them synchronously."""
        self.until(self._is_whole, "a primary with its standbys")

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something of the cluster; the logs of Patroni say why it does not come."""
        deadline = time.monotonic() + HANGS_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                logs = [(node.directory / "patroni.log").read_text()[-3000:] for node in self.nodes]
                raise TimeoutError("\n".join([f"{what} did not come", *logs]))
            time.sleep(0.2)

    def _is_whole(self) -> bool:
        followers = [
            follower
            for node in self.nodes
            if node.leads()
            for follower in node.state().get("replication", [])
            if follower["state"] == "streaming"
        ]
        return len(followers) == len(self.nodes) - 1 and any(follower["sync_state"] == "sync" for follower in followers)

    def _own(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        if self._account is not None:
            os.chown(directory, self._account.uid, self._account.gid)

    def _run(
        self, command: list[str], log: Path, variables: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A process of the account that PostgreSQL runs as: under root it is another one."""
        account: dict[str, Any] = {}
        if self._account is not None:
            account = {"user": self._account.uid, "group": self._account.gid, "extra_groups": []}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        environment = {"PATH": path, "HOME": str(self._directory), "LANG": "C.UTF-8"}
        environment |= {name: value for name, value in os.environ.items() if name == "TESTS_OF_REVERIE"}
        environment |= variables or {}
        with log.open("ab") as output:
            return subprocess.Popen(
                command, cwd=self._directory, env=environment, stdout=output, stderr=output, **account
            )

    def _environment_of_etcd(self) -> dict[str, str]:
        """That of `deploy/patroni`, with one node and this machine's addresses."""
        lines = (DEPLOY / "etcd.env.example").read_text().splitlines()
        variables = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peer_port}"
        return {
            name: value.split(",")[0].replace("http://10.0.0.1:2379", client).replace("http://10.0.0.1:2380", peer)
            for name, value in variables.items()
        }

    def _configuration(self, node: Node) -> dict[str, Any]:
        """That of `deploy/patroni`, with the node's addresses, directories and a small PostgreSQL."""
        configuration: dict[str, Any] = yaml.safe_load((DEPLOY / "patroni.yaml").read_text())
        configuration["bootstrap"]["dcs"]["postgresql"]["parameters"] |= _SMALL
        postgresql, rest = f"127.0.0.1:{node.port}", f"127.0.0.1:{node.rest_port}"
        hba = [line.replace("10.0.0.0/24", "127.0.0.1/32") for line in configuration["postgresql"]["pg_hba"]]
        configuration |= {
            "name": node.name,
            "restapi": {"listen": rest, "connect_address": rest},
            "etcd3": {"hosts": f"127.0.0.1:{self._etcd_port}"},
            "watchdog": {"mode": "off"},
        }
        configuration["postgresql"] |= {
            "listen": postgresql,
            "connect_address": postgresql,
            "data_dir": str(node.directory / "postgres"),
            "bin_dir": str(self._binaries / "bin"),
            "pgpass": str(node.directory / "pgpass"),
            "parameters": {"unix_socket_directories": str(node.directory)},
            "pg_hba": hba,
        }
        return configuration
