"""The `faults` and `channel` of a scenario file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from simcore.faults import Distribution, Faults
from simcore.files.durations import Duration, PositiveDuration, duration, duration_field
from simcore.scenario import Behavior, ChannelSpec, Scheduling

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

_PARAMETERS = {
    "constant": ("value",),
    "uniform": ("low", "high"),
    "exponential": ("mean",),
    "lognormal": ("median", "p95"),
}


def _distribution(value: Any, read: Any) -> Distribution:
    """A quantity, or a mapping with one of the kinds' parameters."""
    if not isinstance(value, dict):
        return Distribution("constant", read(value))
    for kind, names in _PARAMETERS.items():
        if set(value) == set(names):
            a, *rest = (read(value[name]) for name in names)
            b = rest[0] if rest else 0.0
            if rest and b < a:
                raise ValueError(f"'{names[1]}' is below '{names[0]}'")
            if kind == "lognormal" and a <= 0:
                raise ValueError("a median is above zero")
            return Distribution(kind, a, b)  # type: ignore[arg-type]
    known = "; ".join(", ".join(names) for names in _PARAMETERS.values() if names != ("value",))
    raise ValueError(f"a distribution has the keys {known}, or is one value")


def _delay(value: Any) -> Distribution:
    return _distribution(value, lambda part: float(duration(part)))


def _factor(value: Any) -> Distribution:
    return _distribution(value, _positive)


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise ValueError(f"a factor is a number above zero, not {value!r}")
    return float(value)


_SHAPES: dict[str, Any] = {
    "anyOf": [
        {"type": ["number", "string"]},
        *(
            {
                "type": "object",
                "required": list(names),
                "properties": {name: {"type": ["number", "string"]} for name in names},
                "additionalProperties": False,
            }
            for kind, names in _PARAMETERS.items()
            if kind != "constant"
        ),
    ]
}
Delay = Annotated[Distribution, BeforeValidator(_delay), WithJsonSchema(_SHAPES)]
Factor = Annotated[Distribution, BeforeValidator(_factor), WithJsonSchema(_SHAPES)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)


class TimeoutPart(_Part):
    """Attempts without an answer."""

    probability: Share
    landed: Share = Field(0.5, description="how often the effect has happened all the same")
    after: PositiveDuration = duration_field(10_000_000, "when an attempt is given up")


class ReorderPart(_Part):
    """Events that overtake each other."""

    probability: Share
    delay: Delay = Field(
        Distribution("uniform", 0, 500_000),
        json_schema_extra={"default": {"low": "0 s", "high": "500 ms"}},
    )


class FaultsPart(_Part):
    """What can go wrong; nothing does by default."""

    acknowledgement: Delay | None = Field(None, description="its delay, instead of control's")
    ack_lost: Share = Field(0, description="how often the tool acts but does not say so")
    ack_timeout: PositiveDuration | None = Field(
        None, description="how long to wait for an acknowledgement that may be lost"
    )
    cancel_refused: Share = Field(0, description="how often a cancellation is answered with no")
    runtime: Factor | None = Field(None, description="a factor on the action's runtime")
    tool_failure: Share = Field(0, description="how often an attempt fails without an effect")
    timeout: TimeoutPart | None = None
    retries: int = Field(0, ge=0, le=100, description="attempts after a failure or a time-out")
    backoff: Duration = duration_field(500_000, "from an attempt to the next")
    capacity: int | None = Field(None, ge=1, description="calls worked on at a time")
    reorder: ReorderPart | None = None

    @model_validator(mode="after")
    def _timed(self) -> FaultsPart:
        if self.ack_lost and self.ack_timeout is None:
            raise ValueError("where acknowledgements can be lost, 'ack_timeout' is required")
        return self

    def faults(self) -> Faults:
        """As the engine takes them."""
        timeout = self.timeout or TimeoutPart(probability=0)
        reorder = self.reorder or ReorderPart(probability=0)
        return Faults(
            acknowledgement=self.acknowledgement,
            ack_lost=self.ack_lost,
            ack_timeout_us=self.ack_timeout,
            cancel_refused=self.cancel_refused,
            runtime=self.runtime,
            tool_failure=self.tool_failure,
            timeout=timeout.probability,
            timeout_landed=timeout.landed,
            timeout_after_us=timeout.after,
            retries=self.retries,
            backoff_us=self.backoff,
            capacity=self.capacity,
            reorder=reorder.probability,
            reorder_delay=reorder.delay,
        )


class ChannelPart(_Part):
    """How an agent hears of its calls."""

    behavior: Behavior = Field(
        ChannelSpec().behavior, description="BLOCKING: the agent waits for its calls"
    )
    scheduling: Scheduling = Field(
        ChannelSpec().scheduling, description="when an agent that does not wait takes an answer in"
    )
    interruption: Duration = duration_field(
        ChannelSpec().interruption_us, "from a note that cuts a reply to the agent's `interrupted`"
    )

    def spec(self) -> ChannelSpec:
        """As the engine takes it."""
        return ChannelSpec(self.behavior, self.scheduling, self.interruption)
