"""Prompts: the files of `prompts/`, and how texts are put into them as data. Pure but for reading the files.

A file is front matter (`name`, `version`, `inputs`, `output`), the instructions, a line `---`, and what the user's
message holds. `{{name}}` alone on a line stands for a text: it is put between `<name>` and `</name>`, and no mark of
the kind remains inside it. `{{name}}` within a line stands for a short value, such as a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from reverie_indexer.resources import read_resource
from reverie_server.text.fences import for_prompt, without_tags

TEXT_OUTPUT = "text"
_FILE = re.compile(
    r"---\n(?P<front>.*?)^---\n(?P<system>.*?)^---\n(?P<user>.*)",
    re.DOTALL | re.MULTILINE,
)
_FIELD = re.compile(r"(?P<key>name|version|inputs|output):(?: (?P<value>\S.*))?")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PLACEHOLDER = re.compile(r"^\{\{(?P<text>[a-z][a-z0-9_]*)\}\}$|\{\{(?P<value>[a-z][a-z0-9_]*)\}\}", re.MULTILINE)
_ANY_BRACES = re.compile(r"\{\{|\}\}")
# A value is put among the instructions, so it must not be able to be one.
_VALUE = re.compile(r"[\w .:+-]{0,64}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file. `output` is `text` or the name of an answer model in `llm.answers`."""

    name: str
    version: str
    inputs: tuple[str, ...]
    output: str
    system: str
    user: str

    def messages(self, inputs: Mapping[str, str]) -> list[dict[str, str]]:
        """The messages to send. ValueError unless exactly the prompt's inputs are given."""
        if inputs.keys() != set(self.inputs):
            raise ValueError(f"prompt {self.name!r} takes the inputs {self.inputs}, not {tuple(inputs)}")
        return [
            {"role": "system", "content": self._filled(self.system, inputs)},
            {"role": "user", "content": self._filled(self.user, inputs)},
        ]

    def _filled(self, template: str, inputs: Mapping[str, str]) -> str:
        def put(placeholder: re.Match[str]) -> str:
            name = placeholder["text"]
            if name is not None:
                return f"<{name}>\n{self._fenced(inputs[name])}\n</{name}>"
            value = inputs[placeholder["value"]]
            if not _VALUE.fullmatch(value):
                raise ValueError(f"input {placeholder['value']!r} of prompt {self.name!r} is no short value")
            return value

        # In one pass: the inputs are not searched for placeholders.
        return _PLACEHOLDER.sub(put, template)

    def _fenced(self, text: str) -> str:
        """The text without control characters, and without marks that look like the beginning or end of an input."""
        return without_tags(for_prompt(text), self.inputs)


def parse_prompt(source: str) -> Prompt:
    """The prompt in the source of a file; ValueError for a source without the form above."""
    parts = _FILE.fullmatch(source)
    if parts is None:
        raise ValueError("a prompt file is front matter, instructions and a user part, with lines `---` between")
    fields: dict[str, str] = {}
    for line in parts["front"].splitlines():
        field = _FIELD.fullmatch(line)
        if field is None or field["key"] in fields:
            raise ValueError(f"front matter has name, version, inputs and output once each, not {line!r}")
        fields[field["key"]] = field["value"] or ""
    if fields.keys() != {"name", "version", "inputs", "output"} or not all(
        fields[key] for key in ("name", "version", "output")
    ):
        raise ValueError("front matter has name, version, inputs and output")
    inputs = tuple(name.strip() for name in fields["inputs"].split(",")) if fields["inputs"] else ()
    system, user = parts["system"].strip(), parts["user"].strip()
    used = {match["text"] or match["value"] for match in _PLACEHOLDER.finditer(f"{system}\n{user}")}
    if used != set(inputs) or len(set(inputs)) != len(inputs) or not all(map(_NAME.fullmatch, inputs)):
        raise ValueError(f"the placeholders {sorted(used)} are not the inputs {sorted(inputs)}")
    if _ANY_BRACES.search(_PLACEHOLDER.sub("", f"{system}\n{user}")):
        raise ValueError("double braces that are no placeholder")
    return Prompt(fields["name"], fields["version"], inputs, fields["output"], system, user)


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt `prompts/<name>.md`, read once."""
    prompt = parse_prompt(read_resource(f"prompts/{name}.md"))
    if prompt.name != name:
        raise ValueError(f"prompts/{name}.md names itself {prompt.name!r}")
    return prompt
