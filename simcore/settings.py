"""What one recording overrides: a tool's profile, the agent's channel, and a policy's options.

`{"tool": {"runtime_us": 4000000}, "behavior": "BLOCKING", "policies": {"commit_guard": {...}}}`
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from simcore.scenario import ChannelSpec
from simcore.tool import ToolProfile

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.policy import Policy
    from simcore.trace import Recording

CHANNEL_KEYS: Final = tuple(field.name for field in fields(ChannelSpec))
TOOL_KEYS: Final = tuple(
    field.name
    for field in fields(ToolProfile)
    if field.name not in ("name", "reusable_fields", "fields", "boundary")
)


def overridden(
    trace: Recording,
    action: ToolProfile,
    channel: ChannelSpec,
    policy: Policy | Callable[[], Policy],
) -> tuple[ToolProfile, ChannelSpec, Policy | Callable[[], Policy]]:
    """The action, channel and policy with the recording's settings applied.

    A policy gets its options where it comes as a `PolicyFactory`, which knows its name.
    """
    found = settings_of(trace)
    tool, options = found.get("tool", {}), found.get("policies", {})
    side = {key: found[key] for key in CHANNEL_KEYS if key in found}
    name = getattr(policy, "name", None)
    if name in options:
        policy = policy.adapted(options[name])  # type: ignore[union-attr]
    return replace(action, **tool), replace(channel, **side), policy


def settings_of(trace: Recording) -> dict[str, Any]:
    """The settings of a recording, as checked when it was loaded."""
    return _loaded(trace.settings) if trace.settings is not None else {}


@lru_cache(maxsize=1 << 12)
def _loaded(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found
