"""What compose.yaml says of its only service, as options of a container."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.image.container import Options
from tests.image.tree import Mounts

# What is about the image, or about an engine's network; `ports` and these are held to their words by test_deploy.
_ELSEWHERE = {"build", "image", "ports", "extra_hosts", "restart"}


@dataclass(frozen=True)
class Service:
    """How it runs, and its volumes by their names."""

    options: Options
    volumes: dict[str, str]
    stop_grace_seconds: float


def service(text: str, variables: Mapping[str, str], volumes: Mapping[str, Path]) -> Service:
    """The service with the variables of an `.env` and directories for its volumes; KeyError for what is not known."""
    (said,) = yaml.safe_load(text)["services"].values()
    told: dict[str, Any] = {name: value for name, value in said.items() if name not in _ELSEWHERE}
    named = dict(volume.split(":") for volume in told.pop("volumes"))
    mounts = Mounts(
        volumes={path: volumes[name] for name, path in named.items()},
        tmpfs=told.pop("tmpfs"),
        shm_size=told.pop("shm_size").removesuffix("b"),
        read_only=told.pop("read_only"),
    )
    options = Options(
        environment={name: _filled(value, variables) for name, value in told.pop("environment").items()},
        mounts=mounts,
        no_capabilities=told.pop("cap_drop") == ["ALL"],
        no_new_privileges=told.pop("security_opt") == ["no-new-privileges:true"],
    )
    grace_seconds = float(told.pop("stop_grace_period").removesuffix("s"))
    if told:
        raise KeyError(f"compose.yaml says what is not known here: {sorted(told)}")
    return Service(options, named, grace_seconds)


def _filled(value: str, variables: Mapping[str, str]) -> str:
    def found(match: re.Match[str]) -> str:
        name, kind, words = match.groups()
        if given := variables.get(name):
            return given
        if kind == ":?":
            raise KeyError(f"{name} {words}")
        return words

    return re.sub(r"\$\{(\w+)(:-|:\?)([^}]*)\}", found, value)
