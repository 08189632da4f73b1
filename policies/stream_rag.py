"""Stream RAG: a parallel call for every proposal, one of them selected at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from simcore.commands import UNTIL_ARRIVAL, Command, Launch, Select
from simcore.policy import TickPolicy

if TYPE_CHECKING:
    from simcore.commands import Answer
    from simcore.policy import View


@dataclass(kw_only=True)
class StreamRag(TickPolicy):
    """Launches every arriving non-empty proposal, repeated ones too.

    At the final flush it selects the earliest call that matches the final argument and cancels the
    others. Capacity for parallel calls is taken as unlimited.
    """

    parallel_calls: ClassVar[bool] = True

    @property
    def reads_forecast(self) -> bool:
        return False

    def decide(self, view: View) -> Answer:
        commands: list[Command] = [
            Launch(arrival.argument) for arrival in view.fresh if arrival.argument is not None
        ]
        if view.news and view.final:
            commands.append(Select(view.candidate))
        return (*commands, UNTIL_ARRIVAL)
