"""A plain interpreter of the execution model, to be held against its text line by line.

It shares no code with the engine: JSON values in, one plain dict out, a loop over control ticks.
All times are integer microseconds. What stands in quotes is the rule that the code follows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

SECOND = 1_000_000
TAU = (320_000, 640_000, 960_000, 1_280_000, 1_920_000, 2_560_000, 3_200_000, 4_800_000)
HORIZON = 600 * SECOND
NO_CHANGE: Json = {"reactive_update": True, "progress_reuse": True}
DEFAULTS: dict[str, Json] = {
    "eou": NO_CHANGE,
    "local_agreement": {**NO_CHANGE, "consensus": 2},
    "confidence": {**NO_CHANGE, "threshold": 0.95},
    "stream_rag": {},
    "speculative": {},
    "rassg": {
        **NO_CHANGE,
        "consensus": 3,
        "active_cancellation": True,
        "launch": "agreement",
        "veto_after_final": False,
        "recommit": "tick",
    },
}
POLICIES = tuple(DEFAULTS)


@dataclass
class Version:
    """One argument value in execution; `outcome` stays None until it is settled."""

    argument: str
    start: int
    committed: int
    deadline: int
    completion: int
    outcome: str | None = None


class UnsettledError(Exception):
    """The policy still decides long after the final arrival."""


def interpret(
    trace: Json,
    tool: Json,
    control: Json,
    policy: str,
    options: Json | None = None,
    checkpoint: str | None = None,
) -> Json:
    """The outcome columns of one trajectory, and its `versions` in order of their commit instants.

    `trace` is a `trace/v1` object. `tool` and `control` use a scenario's names, times in
    microseconds: `runtime_us`, `cancel_window_us`; `period_us`, `processing_us`,
    `acknowledgement_us`, `horizon_us`. A version is a tuple (argument, start, committed, deadline,
    outcome). A run that never settles is `{"failure": "unsettled"}`.
    """
    unknown = set(options or {}) - set(DEFAULTS[policy])
    if unknown:
        raise ValueError(f"{policy} has no option {sorted(unknown)}")
    run = Interpreter(trace, tool, control, policy, {**DEFAULTS[policy], **(options or {})})
    run.read_forecasts(checkpoint)
    try:
        run.visit_ticks()
    except UnsettledError:
        return {"failure": "unsettled"}
    return run.row()


def canonical(value: Any) -> str:
    """Rule: "In canonical form (sorted keys, no spaces, ...)"."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Interpreter:
    """The state of one trajectory, and the rules that change it."""

    def __init__(self, trace: Json, tool: Json, control: Json, policy: str, options: Json) -> None:
        self.trace, self.tool, self.policy, self.options = trace, tool, policy, options
        self.runtime: int = tool["runtime_us"]
        self.window: int = tool["cancel_window_us"]
        self.period: int = control["period_us"]
        self.processing: int = control["processing_us"]
        self.kappa: int = control["acknowledgement_us"]
        self.stale_cost: float = tool.get("stale_cost", 5.0)
        self.cancel_cost: float = tool.get("cancel_cost", 0.5)
        self.beta: float = tool.get("delay_price", 0.3)  # per second
        # (arrived at, argument, confidence)
        self.arrivals: list[tuple[int, str | None, float | None]] = [
            (
                arrival["arrived_at_us"],
                None if arrival["argument"] is None else canonical(arrival["argument"]),
                arrival.get("confidence"),
            )
            for arrival in trace["arrivals"]
        ]
        self.final_at = self.arrivals[-1][0]
        self.give_up_at = self.final_at + control.get("horizon_us", HORIZON)
        self.forecast_at: list[int] = []
        self.forecast: Json = {}

        self.seen = 0  # how many arrivals the controller has observed
        self.seen_before = 0  # ... at the tick asked before
        self.seen_at_cancel = -1  # ... at the tick that cancelled last
        self.latest_forecast = -1
        self.acknowledged = 0  # when the latest acknowledgement arrives
        self.active: Version | None = None
        self.versions: list[Version] = []
        self.selected: Version | None = None  # stream_rag
        self.selected_at = 0
        self.first_commit: int | None = None
        self.commits = self.updates = self.late_updates = self.cancels = self.late_cancels = 0
        self.skipped_ticks = 0

    def read_forecasts(self, checkpoint: str | None) -> None:
        """Keep the forecasts of one checkpoint; without one there are none."""
        if checkpoint is not None:
            named = {forecast["checkpoint"]: forecast for forecast in self.trace["forecasts"]}
            self.forecast = named[checkpoint]
            self.forecast_at = self.forecast["at_us"]

    # The controller

    def visit_ticks(self) -> None:
        """Rule: "Control tick at t = 0, D, 2D, ..."; "the controller is serial"."""
        tick = 0
        ready = 0
        skipped = 0
        while True:
            if tick < ready:  # "Ticks before d are skipped and counted"
                skipped += 1
            else:
                self.skipped_ticks += skipped
                skipped = 0
                # "it first waits for an outstanding acknowledgement": at exactly t it is there
                now = max(tick, self.acknowledged)
                if now > self.give_up_at:
                    raise UnsettledError
                self.observe(tick)
                # "takes effect at d = max(t, outstanding acknowledgement) + processing"
                d = now + self.processing
                if self.ask(d):
                    return
                ready = d
            tick += self.period

    def observe(self, tick: int) -> None:
        """Rule: "observes arrivals and forecasts up to t"."""
        self.seen_before = self.seen
        while self.seen < len(self.arrivals) and self.arrivals[self.seen][0] <= tick:
            self.seen += 1
        while (
            self.latest_forecast + 1 < len(self.forecast_at)
            and self.forecast_at[self.latest_forecast + 1] <= tick
        ):
            self.latest_forecast += 1

    def ask(self, d: int) -> bool:
        """One decision, in effect at `d`; whether it was the last one."""
        if self.policy == "stream_rag":
            return self.ask_stream_rag(d)
        candidate = self.candidate()
        if self.active is None:
            if candidate is not None and (self.final_seen() or self.may_launch(d)):
                self.commit(candidate, d)
                return False
        elif candidate is not None and candidate != self.active.argument:
            if self.policy == "speculative":
                self.restart(self.active, candidate, d)
                return False
            if self.options["reactive_update"]:
                self.update(self.active, candidate, d)
                return False
        elif candidate is not None and self.policy == "rassg" and self.veto(self.active, d):
            self.cancel(d)
            return False
        return self.nothing_can_change(d)  # the policy waits

    def nothing_can_change(self, d: int) -> bool:
        """Rule: "Decisions end when the final flush has been observed and none can change" it.

        Called where the policy waits: an idle controller has an empty candidate then. Only
        `veto_after_final` leaves something to wait for, while a cancel can still be in time.
        """
        if not self.final_seen():
            return False
        veto_may_come = (
            self.active is not None
            and self.active.argument == self.candidate()
            and self.policy == "rassg"
            and self.options["active_cancellation"]
            and self.options["veto_after_final"]
            and d + self.kappa <= self.active.deadline
        )
        return not veto_may_come

    def candidate(self) -> str | None:
        """Rule: "The candidate is the latest arrival's argument, empty or not"."""
        return self.arrivals[self.seen - 1][1] if self.seen else None

    def final_seen(self) -> bool:
        """Whether the final flush, the last arrival, has been observed."""
        return self.seen == len(self.arrivals)

    # What a decision does

    def deadline(self, start: int, committed: int) -> int:
        """Eq. 1: "b = min(c + w, max(c, s + l))"."""
        return min(committed + self.window, max(committed, start + self.runtime))

    def new_version(self, argument: str, start: int, committed: int) -> Version:
        """Rule: "Completion at max(c, s + l)"."""
        deadline = self.deadline(start, committed)
        completion = max(committed, start + self.runtime)
        version = Version(argument, start, committed, deadline, completion)
        self.versions.append(version)
        return version

    def commit(self, argument: str, d: int) -> None:
        """Rule: "version start c = s = d"."""
        self.active = self.new_version(argument, d, d)
        self.commits += 1
        if self.first_commit is None:
            self.first_commit = d

    def update(self, old: Version, argument: str, d: int) -> None:
        """Rule: "acknowledged at a = d + kappa"."""
        a = d + self.kappa
        self.acknowledged = a
        if a <= old.deadline:
            # "keeps s (progress reuse; s = a where progress cannot be reused or reuse is off)"
            old.outcome = "updated"
            start = old.start if self.keeps_progress(old.argument, argument) else a
            self.active = self.new_version(argument, start, a)
            self.updates += 1
        else:
            # "The old version passes its deadline, runs on, and v' starts fresh at a"
            old.outcome = "executed"
            self.active = self.new_version(argument, a, a)
            self.late_updates += 1
            self.commits += 1

    def cancel(self, d: int) -> None:
        """Rule: "a <= b: the call and its progress are gone, the controller is idle"."""
        a = d + self.kappa
        self.acknowledged = a
        self.seen_at_cancel = self.seen
        assert self.active is not None
        if self.withdraw(self.active, a):
            self.active = None

    def restart(self, old: Version, argument: str, d: int) -> None:
        """Speculative: "the Cancel and the fresh Commit are one decision"."""
        a = d + self.kappa
        self.acknowledged = a
        self.withdraw(old, a)
        self.active = self.new_version(argument, a, a)
        self.commits += 1

    def withdraw(self, version: Version, a: int) -> bool:
        """A cancel acknowledged at a: "a > b: too late, the version is irreversible"."""
        in_time = a <= version.deadline
        version.outcome = "cancelled" if in_time else "executed"
        self.cancels += in_time
        self.late_cancels += not in_time
        return in_time

    def keeps_progress(self, old: str, new: str) -> bool:
        """Rule: "survives a change of these fields; default all; never a change of tool"."""
        if not self.options["progress_reuse"]:
            return False
        before, after = json.loads(old), json.loads(new)
        before = before if isinstance(before, list) else [before]
        after = after if isinstance(after, list) else [after]
        if [call["tool"] for call in before] != [call["tool"] for call in after]:
            return False
        reusable = self.tool.get("reusable_fields")
        for one, other in zip(before, after, strict=True):
            a = {name: canonical(value) for name, value in one["arguments"].items()}
            b = {name: canonical(value) for name, value in other["arguments"].items()}
            changed = {name for name in a.keys() | b.keys() if a.get(name) != b.get(name)}
            if reusable is not None and not changed <= set(reusable):
                return False
        return True

    # Launch rules

    def may_launch(self, d: int) -> bool:
        """The table's column "launch", before the final flush, for a non-empty candidate."""
        if self.policy == "eou":
            return False
        if self.policy == "local_agreement":
            return self.agreement(self.options["consensus"])
        if self.policy == "confidence":
            confidence, threshold = self.arrivals[self.seen - 1][2], self.options["threshold"]
            return confidence is not None and threshold is not None and confidence >= threshold
        if self.policy == "speculative":
            return True
        if self.options["recommit"] == "arrival" and self.seen == self.seen_at_cancel:
            return False
        if self.options["launch"] == "lookahead":
            return self.lookahead(d)
        return self.agreement(self.options["consensus"])

    def agreement(self, k: int) -> bool:
        """Rule: "the last k arrivals agree"; "counts actual arrivals only"."""
        last = [argument for _, argument, _ in self.arrivals[max(0, self.seen - k) : self.seen]]
        return len(last) == k and len(set(last)) == 1

    def lookahead(self, d: int) -> bool:
        """Rule: "Launch at d iff C_stale * (R(d) - R_wait) < beta * D * p_none"."""
        if self.latest_forecast < 0:
            return False
        observed_at = self.forecast_at[self.latest_forecast]
        masses = self.forecast["masses"][self.latest_forecast]
        p_1, p_none = masses[1], masses[11]
        risk = self.lookahead_risk(masses, observed_at, d)
        # "R_wait = R at d + D after removing p_1 and renormalizing, times the surviving mass"
        surviving = 1 - p_1
        risk_wait = 0.0
        if surviving > 0:
            rest = [0.0 if k == 1 else mass / surviving for k, mass in enumerate(masses)]
            risk_wait = self.lookahead_risk(rest, observed_at, d + self.period) * surviving
        return bool(
            self.stale_cost * (risk - risk_wait) < self.beta * (self.period / SECOND) * p_none
        )

    def lookahead_risk(self, masses: list[float], observed_at: int, c: int) -> float:
        """Rule: "R(c) = p_0 + p_T + p_> + the mass of intervals that end after b(c) - kappa"."""
        p_0, *p_k, p_beyond, p_terminal, _ = masses
        latest_cancel = self.deadline(c, c) - self.kappa
        late = [p for p, tau in zip(p_k, TAU, strict=True) if observed_at + tau > latest_cancel]
        return p_0 + p_terminal + p_beyond + sum(late)

    # The last-chance veto

    def veto(self, version: Version, d: int) -> bool:
        """Whether rassg cancels the active version, which equals the candidate."""
        if not self.options["active_cancellation"]:
            return False
        if self.final_seen() and not self.options["veto_after_final"]:
            return False
        if self.latest_forecast < 0:  # "none yet: no veto"
            return False
        # "d + kappa <= b < next decision + kappa"
        next_decision = d + self.period
        if not d + self.kappa <= version.deadline < next_decision + self.kappa:
            return False
        # "With progress g = min(l, max(0, d - s))", g in seconds
        g = min(self.runtime, max(0, d - version.start)) / SECOND
        p_bad = self.forecast["p_bad"][self.latest_forecast]
        return bool(self.stale_cost * p_bad > self.cancel_cost + self.beta * g * (1 - p_bad))

    # Stream RAG

    def ask_stream_rag(self, d: int) -> bool:
        """Rule: "launches the proposals of a tick's new arrivals in arrival order"."""
        for _, argument, _ in self.arrivals[self.seen_before : self.seen]:
            if argument is not None:
                self.commit(argument, d)
        if not self.final_seen():
            return False
        # "At the final flush it selects, at d, the earliest launched call matching the final plan"
        plan = self.candidate()
        self.selected = next((call for call in self.versions if call.argument == plan), None)
        self.selected_at = d
        # "a cancel is requested for every other call not irreversible at d"
        for call in self.versions:
            if call is not self.selected and call.deadline >= d:
                self.withdraw(call, d + self.kappa)
        return True

    # Scores

    def row(self) -> Json:
        """Every deadline still ahead passes; then the metrics, which alone read the target."""
        for version in self.versions:
            if version.outcome is None:
                version.outcome = "executed"
        if self.policy == "stream_rag":
            held = self.selected
            # "delivered at max(its completion, the selection)"
            completed = None if held is None else max(held.completion, self.selected_at)
        else:
            held = self.active
            completed = None if held is None else held.completion
        executed = [version.argument for version in self.versions if version.outcome == "executed"]
        return {
            **self.scores(held, completed, executed),
            "first_commit_us": self.first_commit,
            "completed_us": completed,
            "commits": self.commits,
            "updates": self.updates,
            "late_updates": self.late_updates,
            "cancels": self.cancels,
            "late_cancels": self.late_cancels,
            "skipped_ticks": self.skipped_ticks,
            "final_argument": None if held is None else held.argument,
            "duplicate_effects": len(executed) - len(set(executed)),
            "onset_phase": self.onset_phase(),
            "versions": [
                (v.argument, v.start, v.committed, v.deadline, v.outcome) for v in self.versions
            ],
        }

    def onset_phase(self) -> str | None:
        """Where the first onset fell: "before the launch, before the deadline, after it".

        Of the version committed last before the onset; one that was withdrawn is gone once its
        deadline has passed.
        """
        onsets = [repair["onset_us"] for repair in self.trace.get("repairs", [])]
        if not onsets:
            return None
        committed = [version for version in self.versions if version.committed < min(onsets)]
        if not committed:
            return "before_launch"
        if min(onsets) <= committed[-1].deadline:
            return "before_deadline"
        return "before_launch" if committed[-1].outcome == "cancelled" else "after_deadline"

    def scores(self, held: Version | None, completed: int | None, executed: list[str]) -> Json:
        """The columns that need a target; all None for an unlabelled recording."""
        columns = ("stale", "stale_versions", "success", "delay_s", "result", "cost")
        if "target" not in self.trace:
            return dict.fromkeys(columns)
        target = None if self.trace["target"] is None else canonical(self.trace["target"])
        stale_versions = sum(argument != target for argument in executed)
        success = held is not None and held.argument == target
        delay = None
        if success and completed is not None:
            origin = self.trace.get("origin_us")
            origin = self.trace["audio_end_us"] if origin is None else origin
            delay = max(0, completed - origin) / SECOND  # "negative clipped to 0"
        if target is None:
            result = "wrong" if executed else "right_abstention"
        elif held is None:
            result = "none"
        else:
            result = "right" if success else "wrong"
        cost = self.stale_cost * stale_versions
        cost += self.cancel_cost * (self.cancels + self.late_cancels)
        if delay is not None:
            cost += self.beta * delay
        elif target is not None:
            miss_cost = self.tool.get("miss_cost")
            cost += self.stale_cost if miss_cost is None else miss_cost
        scores = (stale_versions > 0, stale_versions, success, delay, result, cost)
        return dict(zip(columns, scores, strict=True))
