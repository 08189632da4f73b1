"""The policies that a scenario, or the command line, asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcore.errors import InputError, UsageError, nearest
from simcore.registry import policy_factory, registered
from simcore.scenario import PolicySpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simcore.files.scenario_model import PolicyPart
    from simcore.files.yaml import Document


def scenario_policies(
    document: Document, parts: Sequence[PolicyPart], base: Path, faults: list[InputError]
) -> dict[str, PolicySpec]:
    """The policies of the file by label, each made once to see that its options are right."""
    specs: dict[str, PolicySpec] = {}
    for index, part in enumerate(parts):
        options: dict[str, Any] = part.model_extra or {}
        label = part.label or part.name
        if label in specs:
            place = ("policies", index, "label") if part.label else ("policies", index)
            message = f"a second policy is labelled '{label}'; give it a 'label' of its own"
            faults.append(document.fault(place, message))
        name = _located(part.name, base)
        read = None if part.checkpoints is None else tuple(part.checkpoints)
        specs[label] = PolicySpec(name, label, options, read)
        try:
            policy_factory(name, options)
        except UsageError as error:
            faults.append(document.fault(_place(index, options, str(error)), str(error)))
    return specs


def chosen_policies(
    names: Sequence[str], specs: Mapping[str, PolicySpec], faults: list[InputError]
) -> dict[str, PolicySpec]:
    """The policies of the command line: labels of the scenario, else registered names or
    `file.py:Class` relative to the current folder, with default options."""
    chosen: dict[str, PolicySpec] = {}
    for name in names:
        if name in specs:
            chosen[name] = specs[name]
            continue
        if ":" not in name and name not in registered("policies"):
            hint = nearest(name, [*specs, *registered("policies")])
            faults.append(InputError(f"unknown policy '{name}'{hint}", file=f"--policy {name}"))
            continue
        located = _located(name, Path())
        chosen[name] = PolicySpec(located, name)
        try:
            policy_factory(located)
        except UsageError as error:
            faults.append(InputError(str(error), file=f"--policy {name}"))
    return chosen


def _located(name: str, base: Path) -> str:
    """A `file.py:Class` by its absolute path, so that workers find it from any folder."""
    path, colon, attribute = name.rpartition(":")
    return f"{(base / path).resolve()}:{attribute}" if colon else name


def _place(index: int, options: Mapping[str, Any], message: str) -> tuple[str | int, ...]:
    """The option that the message quotes, else the policy."""
    for option in options:
        if f"'{option}'" in message:
            return "policies", index, option
    return "policies", index
