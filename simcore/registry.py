"""What is registered under the entry-point groups, and policies made from a name and options."""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcore.errors import MissingError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

    from simcore.policy import Policy


@lru_cache
def registered(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of `simcore.<group>` by name; of one name the first installed wins.

    Groups: policies, frontends, parsers, predictors, importers, sources, commands.
    """
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"simcore.{group}"):
        found.setdefault(point.name, point)
    return dict(sorted(found.items()))


def load(group: str, name: str) -> Any:
    """The registered object. Raises `UsageError` for an unknown name, `MissingError` where what
    it needs is not installed."""
    known = registered(group)
    if name not in known:
        kind = "policy" if group == "policies" else group.removesuffix("s")
        raise UsageError(f"unknown {kind} '{name}'{nearest(name, known)}")
    try:
        return known[name].load()
    except ModuleNotFoundError as error:
        raise MissingError(
            f"'{name}' needs the module '{error.name}', which is not installed"
        ) from error


def first_line(thing: Any) -> str:
    """The first line of an object's own docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


@dataclass(frozen=True, slots=True)
class PolicyFactory:
    """Makes a fresh policy for every trajectory; options are checked once, here.

    `given` are the options as written, `options` as checked.
    """

    policy: type[Policy]
    options: Mapping[str, Any]
    reads_forecast: bool
    needs_masses: bool
    name: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Policy:
        return self.policy(**self.options)

    def adapted(self, options: Mapping[str, Any]) -> PolicyFactory:
        """The factory with some options replaced, as one recording's settings ask for."""
        text = json.dumps(dict(self.given) | dict(options), sort_keys=True)
        return _adapted(self.name, text)


@lru_cache(maxsize=1 << 10)
def _adapted(name: str, options: str) -> PolicyFactory:
    return policy_factory(name, json.loads(options))


def policy_factory(
    name: str, options: Mapping[str, Any] | None = None, base_dir: Path | None = None
) -> PolicyFactory:
    """A factory for a registered policy, or for `path/to/file.py:Class` relative to `base_dir`.

    Raises `UsageError` for an unknown name or option and for a value that the option does not take.
    """
    policy = _policy_class(name, base_dir or Path())
    checked = _checked_options(policy, name, options or {})
    try:
        sample = policy(**checked)
    except Exception as error:
        raise UsageError(f"policy '{name}' cannot be made: {error}") from error
    if not callable(getattr(sample, "on", None)):
        raise UsageError(
            f"'{name}' is not a policy: it has no method 'on' (or, for a TickPolicy, 'decide')"
        )
    return PolicyFactory(
        policy,
        checked,
        bool(getattr(sample, "reads_forecast", True)),
        bool(getattr(sample, "needs_masses", False)),
        name,
        options or {},
    )


def _policy_class(name: str, base_dir: Path) -> Any:
    if ":" not in name:
        return load("policies", name)
    path, _, attribute = name.rpartition(":")
    file = base_dir / path
    if not file.is_file():
        raise UsageError(f"policy '{name}': no file '{path}'")
    module = _module(file.resolve())
    if not hasattr(module, attribute):
        classes = [key for key, value in vars(module).items() if inspect.isclass(value)]
        raise UsageError(f"'{path}' has no class '{attribute}'{nearest(attribute, classes)}")
    return getattr(module, attribute)


@lru_cache
def _module(file: Path) -> Any:
    name = f"_simcore_policy_{sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"'{file}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UsageError(
            f"'{file.name}' cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return module


def option_names(policy: Any) -> list[str]:
    """The options that a policy class takes."""
    if is_dataclass(policy):
        return [option.name for option in fields(policy) if option.init]
    return [
        parameter.name
        for parameter in inspect.signature(policy).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]


def _checked_options(policy: Any, name: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    known = option_names(policy)
    for option in options:
        if option not in known:
            hint = nearest(option, known) or "; it has no options"
            raise UsageError(f"policy '{name}' has no option '{option}'{hint}")
    if not options or not is_dataclass(policy):
        return dict(options)
    from typing import get_type_hints

    from pydantic import ConfigDict, TypeAdapter, ValidationError

    hints = get_type_hints(policy, include_extras=True)
    checked = {}
    for option, value in options.items():
        try:
            adapter = TypeAdapter(
                hints[option], config=ConfigDict(strict=True, allow_inf_nan=False)
            )
            checked[option] = adapter.validate_python(value)
        except ValidationError as error:
            message = error.errors()[0]["msg"]
            message = message[0].lower() + message[1:]
            raise UsageError(
                f"policy '{name}', option '{option}': {message}, not {value!r}"
            ) from error
    return checked
