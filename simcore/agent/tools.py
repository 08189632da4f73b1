"""The backend of an agent with several tools: each call has the profile of the tool it names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simcore.backend import Backend
from simcore.ledger import IllegalCommandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcore.clock import Microseconds
    from simcore.faults import Faults
    from simcore.kernel import Kernel
    from simcore.tool import ToolProfile
    from simcore.trace import Argument


class ToolBackend(Backend):
    """One ledger and one capacity for all tools."""

    __slots__ = ("_profiles",)

    def __init__(
        self,
        kernel: Kernel,
        profiles: Mapping[str, ToolProfile],
        acknowledgement_us: Microseconds,
        stream_key: tuple[int, str, str, int],
        faults: Faults,
    ) -> None:
        first = next(iter(profiles.values()))
        super().__init__(kernel, first, acknowledgement_us, stream_key, faults)
        self._profiles = profiles

    def launch(self, argument: Argument) -> int:
        """Start a call now; its tool says how long it runs and whether it can be taken back."""
        name = tool_of(argument)
        if name not in self._profiles:
            raise IllegalCommandError(f"there is no tool '{name}'")
        self._profile = self._profiles[name]
        return super().launch(argument)


def tool_of(argument: Argument) -> str:
    """The tool that a canonical call names."""
    return str(json.loads(argument)["tool"])
