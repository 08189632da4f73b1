"""Confidence commit: launch what the recognizer is sure of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le

from policies.argument import ArgumentPolicy

if TYPE_CHECKING:
    from simcore.policy import View


@dataclass(kw_only=True)
class Confidence(ArgumentPolicy):
    """Launch a candidate whose confidence reaches `threshold`.

    With a threshold of None nothing is launched before the final flush.
    """

    threshold: Annotated[float, Ge(0), Le(1)] | None = 0.95

    def launches(self, view: View) -> bool:
        if self.threshold is None or view.candidate is None:
            return False
        confidence = view.arrivals[-1].confidence
        return confidence is not None and confidence >= self.threshold
