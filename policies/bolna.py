"""bolna's rule: nobody interrupts the agent while a call is in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from policies.at_once import AtOnce


@dataclass
class Bolna(AtOnce):
    """bolna's deferred barge-in: speech waits while a call is in flight, which is always finished.

    So no call is dropped by an interruption, and none is made again because of that.
    """

    defers_interruptions: ClassVar[bool] = True
