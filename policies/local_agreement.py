"""LocalAgreement-k on argument values: launch what k successive recognitions agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from policies.argument import ArgumentPolicy

if TYPE_CHECKING:
    from simcore.policy import View


@dataclass(kw_only=True)
class LocalAgreement(ArgumentPolicy):
    """Launch when the last `consensus` arrivals agree."""

    consensus: Annotated[int, Ge(1)] = 2

    def launches(self, view: View) -> bool:
        return view.agreement >= self.consensus
