"""The descriptions of tools that models read, from the files of `prompts/tools/`. Pure but for reading them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from reverie_indexer.resources import read_resource

# A tool whose description is longer is refused by some providers' APIs.
MAX_DESCRIPTION_CHARS = 1024
_FRONT = re.compile(r"---\n(?P<front>.*?)^---\n(?P<body>.*)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"(?P<name>[a-z][a-z0-9_.]*): (?P<value>\S.*)")


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a tool, for models.

    `text` is the description itself; `arguments` says what each argument means; `remedies` says, by the code of
    an error, what to do next.
    """

    title: str
    text: str
    arguments: Mapping[str, str]
    remedies: Mapping[str, str]


def parse_description(source: str) -> Description:
    """The description in a prompt file: front matter of `key: value` lines, then the text.

    Keys are `name`, `title`, `argument.<name>` and `error.<code>`. ValueError for anything else.
    """
    parts = _FRONT.fullmatch(source)
    if parts is None:
        raise ValueError("a prompt file begins with front matter between two lines `---`")
    groups: dict[str, dict[str, str]] = {"": {}, "argument": {}, "error": {}}
    for line in parts["front"].splitlines():
        field = _FIELD.fullmatch(line)
        if field is None:
            raise ValueError(f"front matter has lines of `key: value`, not {line!r}")
        group, _, name = field["name"].rpartition(".")
        if group not in groups or name in groups[group] or (not group and name not in ("name", "title")):
            raise ValueError(f"front matter has {field['name']!r} twice, or does not know it")
        groups[group][name] = field["value"]
    text = parts["body"].strip()
    if len(text) > MAX_DESCRIPTION_CHARS:
        raise ValueError(f"a tool's description has at most {MAX_DESCRIPTION_CHARS} characters, not {len(text)}")
    return Description(groups[""].get("title", ""), text, groups["argument"], groups["error"])


def describe(tool: str) -> Description:
    """The description of a tool."""
    return parse_description(read_resource(f"prompts/tools/{tool}.md"))


@cache
def common_remedies() -> Mapping[str, str]:
    """The remedies by error code, for tools that have none of their own."""
    return describe("_errors").remedies


def instructions() -> str:
    """The instructions for the tools as a whole."""
    return read_resource("prompts/tools/_instructions.md").strip()
