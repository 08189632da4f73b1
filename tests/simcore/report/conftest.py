from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from simcore.metrics import EVENTS
from simcore.report.summary import Summary, build_summary
from simcore.scenario import Gate, Scenario

RESOLVED = {"name": "tea <time>", "policies": ["eou", "eager|bold"]}


def trajectory(policy: str, number: int, variant: str, action: str) -> dict[str, Any]:
    stale = policy == "eager|bold" and variant == "corrected"
    values: dict[str, Any] = {
        "recording_id": f"r{number}-{variant}",
        "group_id": f"g{number}",
        "subset": "prospective",
        "variant": variant,
        "policy": policy,
        "action": action,
        "checkpoint": None,
        "replication": 0,
        "stale": stale,
        "stale_versions": int(stale),
        "success": True,
        "delay_s": number / 8 + (9.0 if policy == "eou" else 3.5),
        "cost": number / 16 + 5 * stale,
        "result": "right",
        "failure": None,
        "error": None,
    }
    values |= dict.fromkeys(EVENTS, 1)
    if policy == "odd":
        nothing = ("stale", "stale_versions", "success", "delay_s", "cost", "result", *EVENTS)
        if number == 0:
            values |= dict.fromkeys(nothing)
            values |= {"failure": "policy_error", "error": "bad\x07 <value>"}
        elif number == 1:
            values |= dict.fromkeys(nothing[:6])
    return values


@pytest.fixture(scope="session")
def frame() -> pl.DataFrame:
    """Eight pairs, two actions, three policies; the third at times fails or lacks labels."""
    rows = [
        trajectory(policy, number, variant, action)
        for policy in ("eou", "eager|bold", "odd")
        for number in range(8)
        for variant in ("stable", "corrected")
        for action in ("book", "pay")
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


@pytest.fixture(scope="session")
def scenario() -> Scenario:
    gates = (
        Gate("stale_rate", "eager|bold", maximum=0.05),
        Gate("failures", maximum=0),
    )
    return Scenario("tea <time>", (), (), (), gates=gates, seed=7, resolved=RESOLVED)


@pytest.fixture(scope="session")
def summary(frame: pl.DataFrame, scenario: Scenario) -> Summary:
    return build_summary(frame, scenario, as_given={"scenario": "tea.yaml"}, resamples=200)
