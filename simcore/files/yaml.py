"""YAML 1.2 as plain values, with the file and line of each, `!include` and overrides.

Plain scalars are what YAML 1.2 says: 16:00 and 2026-03-01 stay text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from simcore.errors import InputError, InputErrors
from simcore.files.faults import path_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ruamel.yaml.nodes import Node

    from simcore.files.faults import Location

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was written; an override has no line."""

    file: str
    line: int | None = None


@dataclass(slots=True)
class Document:
    """Plain values (JSON types) and where each was written."""

    data: Any
    places: dict[Location, Place] = field(default_factory=dict)

    def fault(self, location: Location, message: str) -> InputError:
        """An error about the value at ``location``, or about what should be there."""
        known = location
        while known and known not in self.places:
            known = known[:-1]
        place = self.places.get(known, Place(""))
        parts = [f"line {place.line}"] if place.line else []
        parts += [path_text(location)] if location else []
        return InputError(message, file=place.file or None, place=", ".join(parts) or None)


def load_yaml(path: Path) -> Document:
    """Read a YAML file and what it includes. Raises ``InputErrors`` with every fault."""
    reader = _Reader()
    data = reader.file(path, (), ())
    if reader.faults:
        raise InputErrors(reader.faults)
    return Document(data, reader.places)


def override(document: Document, setting: str) -> None:
    """Apply `KEY=VALUE`: a dotted path (list indices allowed) and a value in YAML.

    Whether the key is known is for the document's model to say. Raises ``InputErrors``.

    >>> document = Document({"control": {}, "policies": ["rassg"]})
    >>> override(document, "control.period=160 ms")
    >>> override(document, "policies.0.consensus=2")
    >>> document.data
    {'control': {'period': '160 ms'}, 'policies': [{'name': 'rassg', 'consensus': 2}]}
    """
    key, equals, text = setting.partition("=")
    file = f"--set {setting}"
    if not equals or not key.strip():
        raise InputErrors([InputError("is not KEY=VALUE", file=file)])
    location, value = _location(key.strip()), _value(text, file)
    parent = document.data
    for depth, part in enumerate(location):
        _check_step(parent, part, location[:depth], file)
        if depth == len(location) - 1:
            parent[part] = value
        else:
            parent = _descend(parent, part)
    for known in [known for known in document.places if known[: len(location)] == location]:
        del document.places[known]
    document.places[location] = Place(file)


def _location(key: str) -> Location:
    return tuple(int(part) if part.isdecimal() else part for part in key.split("."))


def _value(text: str, file: str) -> Any:
    reader = _Reader()
    value = reader.text(text, file, Path(), (), ())
    if reader.faults:
        raise InputErrors(InputError(fault.message, file=file) for fault in reader.faults)
    return value


def _check_step(parent: Any, part: int | str, above: Location, file: str) -> None:
    name = path_text(above) or "the scenario"
    if isinstance(parent, list):
        if not isinstance(part, int):
            raise InputErrors(
                [InputError(f"{name} is a list: '{part}' must be an index", file=file)]
            )
        if part >= len(parent):
            message = f"{name} has {len(parent)} entries, the last is {name}[{len(parent) - 1}]"
            raise InputErrors([InputError(message, file=file)])
    elif not isinstance(parent, dict) or isinstance(part, int):
        raise InputErrors([InputError(f"{name} has no '{part}'", file=file)])


def _descend(parent: Any, part: int | str) -> Any:
    if isinstance(parent, dict):
        return parent.setdefault(part, {})
    if isinstance(parent[part], str):
        # A list entry written as a bare name, such as a policy, takes options from here on.
        parent[part] = {"name": parent[part]}
    return parent[part]


class _Reader:
    """Turns YAML nodes into plain values; collects faults and places on the way."""

    def __init__(self) -> None:
        self.places: dict[Location, Place] = {}
        self.faults: list[InputError] = []

    def file(self, path: Path, at: Location, chain: tuple[Path, ...]) -> Any:
        """The value of a file; `chain` holds the files that are being read."""
        file = str(path)
        try:
            text = path.read_text("utf-8-sig")
        except FileNotFoundError:
            return self._fail("there is no such file", Place(file))
        except (OSError, UnicodeDecodeError) as error:
            return self._fail(f"cannot be read as UTF-8 text ({error})", Place(file))
        return self.text(text, file, path.parent, at, (*chain, path.resolve()))

    def text(
        self, text: str, file: str, folder: Path, at: Location, chain: tuple[Path, ...]
    ) -> Any:
        """The value of YAML text that stands in `file`."""
        yaml = YAML(typ="safe", pure=True)
        try:
            node = yaml.compose(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            reason = " ".join(str(error.problem or error.context).split())
            return self._fail(
                f"broken YAML: {reason}", Place(file, mark.line + 1 if mark else None)
            )
        except YAMLError as error:
            return self._fail(f"broken YAML: {' '.join(str(error).split())}", Place(file))
        if node is None:
            return None
        self.places.setdefault(at, Place(file, 1))
        return _Walk(self, yaml.constructor, file, folder, chain).value(node, at, ())

    def _fail(self, message: str, place: Place) -> None:
        line = None if place.line is None else f"line {place.line}"
        self.faults.append(InputError(message, file=place.file, place=line))


@dataclass(frozen=True, slots=True)
class _Walk:
    """One file's nodes."""

    reader: _Reader
    constructor: Any
    file: str
    folder: Path
    chain: tuple[Path, ...]

    def value(self, node: Node, at: Location, parents: tuple[Node, ...]) -> Any:
        if any(node is parent for parent in parents):
            return self._fail("an alias stands for what contains it", node)
        parents = (*parents, node)
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, at, parents)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            for index, item in enumerate(node.value):
                self._mark((*at, index), item)
            return [self.value(n, (*at, i), parents) for i, n in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node, at)
        return self._fail(f"unknown tag {node.tag}; only !include is known", node)

    def _mapping(self, node: Any, at: Location, parents: tuple[Node, ...]) -> Mapping[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._fail("a key is plain text", key_node)
                continue
            key = str(key_node.value)
            if key in result:
                self._fail(f"the key '{key}' stands here twice", key_node)
            self._mark((*at, key), key_node)
            result[key] = self.value(value_node, (*at, key), parents)
        return result

    def _scalar(self, node: ScalarNode, at: Location) -> Any:
        kind = str(node.tag).removeprefix(_TAG)
        if kind in ("str", "timestamp", "merge", "value"):
            return str(node.value)
        if kind in ("int", "float", "bool", "null"):
            try:
                return getattr(self.constructor, f"construct_yaml_{kind}")(node)
            except ValueError:
                return self._fail(f"'{node.value}' is no {kind}", node)
        if kind != "!include":
            return self._fail(f"unknown tag {kind}; only !include is known", node)
        path = self.folder / str(node.value)
        if path.resolve() in self.chain:
            return self._fail(f"'{node.value}' includes itself", node)
        if not path.is_file():
            return self._fail(f"there is no file '{node.value}' to include", node)
        return self.reader.file(path, at, self.chain)

    def _mark(self, at: Location, node: Node) -> None:
        self.reader.places[at] = Place(self.file, node.start_mark.line + 1)

    def _fail(self, message: str, node: Node) -> None:
        place = f"line {node.start_mark.line + 1}"
        self.reader.faults.append(InputError(message, file=self.file, place=place))
