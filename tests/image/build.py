"""The image of a Dockerfile as a tree of files: its instructions, done by chroot in a clean Debian.

`FROM python:X.Y-slim-SUITE` is here that suite of Debian with its own Python, which must be X.Y: the official image has
the same Debian and a Python that was compiled beside it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tests.image.dockerfile import Ignored, Instruction, Stage, stages
from tests.image.tree import Identity, Mounts, command_in

_OFFICIAL = re.compile(r"python:(?P<version>\d+\.\d+)-slim-(?P<suite>[a-z]+)")
# `python`, `python -m venv` and certificates are in the official image.
_PACKAGES = "python3,python3-venv,python-is-python3,ca-certificates"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PIP_OPTIONS = {"index-url", "extra-index-url", "find-links", "cert", "constraint", "proxy", "trusted-host", "timeout"}
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_STEP_SECONDS = 1800


@dataclass
class Image:
    """A tree, and how the program in it is run."""

    tree: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    user: str = "0"
    workdir: str = "/"
    command: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)

    def identity(self) -> Identity:
        """Its user as the tree knows it: a name or a number, with the groups of its entry."""
        entries = [line.split(":") for line in (self.tree / "etc/passwd").read_text().splitlines()]
        name, _, uid, gid, *_ = next(entry for entry in entries if self.user in (entry[0], entry[2]))
        groups = [line.split(":") for line in (self.tree / "etc/group").read_text().splitlines()]
        return Identity(int(uid), int(gid), [int(group[2]) for group in groups if name in group[3].split(",")])

    def home(self) -> str:
        """The directory of its user, which an engine gives it as HOME."""
        entries = [line.split(":") for line in (self.tree / "etc/passwd").read_text().splitlines()]
        return next(entry[5] for entry in entries if self.user in (entry[0], entry[2]))


class Build:
    """Makes the image of the Dockerfile in `context`, with its trees in an empty directory."""

    def __init__(self, context: Path, directory: Path) -> None:
        self._context = context
        self._directory = directory
        self._ignored = Ignored((context / ".dockerignore").read_text())
        self._images: dict[str, Image] = {}
        self._pip_settings, self._pip_paths = pip_of_this_machine()

    def run(self) -> Image:
        """The image of the last stage; the trees of the others are gone. AssertionError for what it cannot do."""
        image = None
        for stage in stages((self._context / "Dockerfile").read_text()):
            image = self._from(stage)
            for instruction in stage.instructions:
                do = _INSTRUCTIONS.get(instruction.name)
                assert do is not None, f"{instruction.name} is not known here: teach it to {__file__}"
                do(self, image, instruction)
        assert image is not None
        for other in self._images.values():
            if other is not image:
                shutil.rmtree(other.tree)
        return image

    def _from(self, stage: Stage) -> Image:
        base = _OFFICIAL.fullmatch(stage.base)
        assert base, f"{stage.base} is no python:X.Y-slim-SUITE"
        image = Image(self._directory / f"stage-{len(self._images)}")
        archive = self._directory / f"{base['suite']}.tar"
        if not archive.exists():
            _run(
                [
                    "mmdebstrap",
                    "--quiet",
                    "--variant=minbase",
                    f"--include={_PACKAGES}",
                    base["suite"],
                    archive,
                    _mirror(),
                ]
            )
        image.tree.mkdir()
        _run(["tar", "--extract", "--file", archive, "--directory", image.tree])
        self._images[stage.name or str(len(self._images))] = image
        version = f"import sys; assert sys.version.startswith('{base['version']}.'), sys.version"
        self._in_tree(image, ["python", "-c", version])
        return image

    def _copy(self, image: Image, instruction: Instruction) -> None:
        assert instruction.flags.keys() <= {"from"}, instruction
        *sources, target = instruction.rest.split()
        inside = image.tree / str(PurePosixPath(image.workdir, target)).lstrip("/")
        assert len(sources) == 1 or target.endswith("/"), instruction
        if "from" in instruction.flags:
            other = self._images[instruction.flags["from"]].tree
            for source in sources:
                inside.parent.mkdir(parents=True, exist_ok=True)
                _run(["cp", "--archive", "--no-target-directory", other / source.lstrip("/"), inside])
            return
        for source in sources:
            self._copy_of_context(PurePosixPath(source), inside, is_directory=target.endswith("/"))

    def _copy_of_context(self, source: PurePosixPath, target: Path, *, is_directory: bool) -> None:
        """A file, or what is in a directory, but for what .dockerignore leaves out."""
        path = self._context / source
        files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
        copied = 0
        for file in files:
            if PurePosixPath(file.relative_to(self._context)) in self._ignored:
                continue
            if path.is_file():
                to = target / source.name if is_directory else target
            else:
                to = target / file.relative_to(path)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)
            copied += 1
        assert copied, f"COPY {source}: it is not there, or .dockerignore leaves it out"

    def _run_shell(self, image: Image, instruction: Instruction) -> None:
        assert not instruction.flags, instruction
        command = json.loads(instruction.rest) if instruction.rest.startswith("[") else ["sh", "-c", instruction.rest]
        self._in_tree(image, command)

    def _in_tree(self, image: Image, command: list[str]) -> None:
        mounts = Mounts(tmpfs=["/run"], machine=self._pip_paths)
        arguments = {name: os.environ[name] for name in _PROXIES if name in os.environ}
        environment = {**arguments, **self._pip_settings, "HOME": image.home(), **image.environment}
        with mounts.mount_points(image.tree):
            _run(command_in(image.tree, mounts, image.identity(), environment, image.workdir, command))

    def _env(self, image: Image, instruction: Instruction) -> None:
        values = (pair.split("=", 1) for pair in shlex.split(instruction.rest))
        before = dict(image.environment)
        image.environment |= {
            name: re.sub(r"\$\{?(\w+)\}?", lambda found: before.get(found[1], ""), value) for name, value in values
        }

    def _workdir(self, image: Image, instruction: Instruction) -> None:
        image.workdir = str(PurePosixPath(image.workdir, instruction.rest))
        (image.tree / image.workdir.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _user(self, image: Image, instruction: Instruction) -> None:
        image.user = instruction.rest
        image.identity()

    def _volume(self, image: Image, instruction: Instruction) -> None:
        image.volumes += instruction.rest.split()

    def _expose(self, image: Image, instruction: Instruction) -> None:
        image.ports += map(int, instruction.rest.split())

    def _healthcheck(self, image: Image, instruction: Instruction) -> None:
        kind, _, command = instruction.rest.partition(" ")
        assert kind == "CMD", instruction
        image.healthcheck = json.loads(command)

    def _cmd(self, image: Image, instruction: Instruction) -> None:
        image.command = json.loads(instruction.rest)


_INSTRUCTIONS: dict[str, Callable[[Build, Image, Instruction], None]] = {
    "COPY": Build._copy,
    "RUN": Build._run_shell,
    "ENV": Build._env,
    "WORKDIR": Build._workdir,
    "USER": Build._user,
    "VOLUME": Build._volume,
    "EXPOSE": Build._expose,
    "HEALTHCHECK": Build._healthcheck,
    "CMD": Build._cmd,
}


def pip_of_this_machine() -> tuple[dict[str, str], list[Path]]:
    """Where pip finds packages here, as the variables of another one, and the directories that they name."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    variables: dict[str, str] = {}
    paths: set[Path] = set()
    for line in listed.stdout.splitlines():
        name, _, quoted = line.partition("=")
        option = name.rpartition(".")[2]
        variable = f"PIP_{option.upper().replace('-', '_')}"
        # What a variable says is listed first, and counts more than a file.
        if option in _PIP_OPTIONS and variable not in variables:
            variables[variable] = " ".join(str(ast.literal_eval(quoted)).split())
            paths |= {found for word in variables[variable].split() if (found := _directory_of(word))}
    return variables, sorted(paths)


def _directory_of(word: str) -> Path | None:
    """What has to be there for a file, a directory, or an index of files that lie beside it."""
    if word.startswith("file://"):
        path = Path(word.removeprefix("file://")).parent
    elif word.startswith("/"):
        path = Path(word) if Path(word).is_dir() else Path(word).parent
    else:
        return None
    return path if path.is_dir() else None


def _mirror() -> str:
    """Where apt of this machine, a Debian, has its packages from."""
    found = _run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"]
    ).split()
    assert found, "apt names no mirror of Debian, or knows nothing of it yet: apt-get update"
    return found[0]


def _run(command: Sequence[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_STEP_SECONDS, check=False)
    assert done.returncode == 0, f"{command[-3:]}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout
