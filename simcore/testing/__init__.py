"""Tests for your own policy: `check_policy`, invariants, and hypothesis strategies.

Needs hypothesis: ``pip install 'rassg-sim[testing]'``.
"""

from simcore.testing.conformance import check_policy
from simcore.testing.invariants import check_trajectory
from simcore.testing.strategies import arguments, controls, profiles, recordings, scenarios

__all__ = [
    "arguments",
    "check_policy",
    "check_trajectory",
    "controls",
    "profiles",
    "recordings",
    "scenarios",
]
