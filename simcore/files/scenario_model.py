"""`scenario/v1` as it stands in a file: names, types and ranges of every value on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core.core_schema import no_info_before_validator_function

from simcore.files.durations import Duration, PositiveDuration, duration_field
from simcore.files.scenario_faults import ChannelPart, FaultsPart
from simcore.files.trace_model import Name
from simcore.scenario import Control
from simcore.tool import FieldType

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

SCHEMA = "scenario/v1"
ACTIONS_SCHEMA = "actions/v1"


def _traces(value: Any) -> Any:
    if isinstance(value, str) and value:
        return value
    if not isinstance(value, list):
        raise ValueError("is the name of a pack, a file, or a list of recordings")
    if not value:
        raise ValueError("is an empty list of recordings")
    return value


class _OneOrMore:
    """A list that may be written as its only entry."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return no_info_before_validator_function(
            lambda value: [value] if isinstance(value, dict) else value, handler(source)
        )

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        many = handler(core_schema)
        return {"anyOf": [many["items"], many]}


Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_CONTROL = Control()


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ControlPart(_Part):
    """The controller's timing."""

    period: PositiveDuration = duration_field(_CONTROL.period_us, "time between two control ticks")
    processing: Duration = duration_field(
        _CONTROL.processing_us, "from a tick until its decision acts"
    )
    acknowledgement: Duration = duration_field(
        _CONTROL.acknowledgement_us, "from a request to update or cancel until the tool answers"
    )
    queueing: Literal["fifo", "latest"] = Field(
        _CONTROL.queueing, description="latest: the decoder skips superseded prefixes"
    )
    horizon: PositiveDuration = duration_field(
        _CONTROL.horizon_us,
        "a policy that still decides this long after the final recognition has failed",
    )


class ActionPart(_Part):
    """One action's timing and prices: `runtime` and `cancel_window`, or, of two phases, `prepare`.

    What is prepared can be taken back until it is committed, which a policy does by itself.
    """

    name: Name
    runtime: Duration | None = Field(None, description="how long the call runs")
    cancel_window: Duration | None = Field(
        None, description="how long after its commit it can be taken back"
    )
    prepare: Duration | None = Field(None, description="how long the first of two phases takes")
    commit: Duration = Field(0, description="how long the second takes to answer")
    fields: dict[Name, FieldType] = Field(
        {}, description="types of argument fields, by which equal values are found to be equal"
    )
    stale_cost: Price = Field(5.0, description="price of a wrong execution")
    cancel_cost: Price = Field(0.5, description="price of a cancellation")
    delay_price: Price = Field(0.3, description="price of one second of delay")
    miss_cost: Price | None = Field(
        None, description="price of a missed target; stale_cost by default"
    )
    reusable_fields: list[Name] | None = Field(
        None, description="argument fields whose change keeps the progress; all by default"
    )
    effect: Literal["read", "write"] = "write"

    @model_validator(mode="after")
    def _one_boundary(self) -> ActionPart:
        if self.prepare is None:
            for key in ("runtime", "cancel_window"):
                if getattr(self, key) is None:
                    raise ValueError(f"the key '{key}' is missing (or 'prepare', of two phases)")
        elif self.runtime is not None or self.cancel_window is not None:
            raise ValueError("has 'prepare', and so neither 'runtime' nor 'cancel_window'")
        return self


class PolicyPart(BaseModel):
    """A policy by name, under a label of its own, with its options beside them."""

    model_config = ConfigDict(strict=True, extra="allow")

    name: Name = Field(description="a registered policy, or path/to/file.py:ClassName")
    label: Name | None = Field(None, description="how results call it; the name by default")
    checkpoints: list[Name] | None = Field(
        None, description="forecasts that it reads; the scenario's by default"
    )

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, handler(core_schema)]}


class GatePart(_Part):
    """A bound on one metric, for one policy's label or for every policy."""

    policy: Name | None = None
    min: Annotated[float, Field(allow_inf_nan=False)] | None = None
    max: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _bounded(self) -> GatePart:
        if self.min is None and self.max is None:
            raise ValueError("a gate needs 'min' or 'max'")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is above max {self.max:g}")
        return self


Gates = Annotated[list[GatePart], _OneOrMore()]


class GatesPart(_Part):
    """Bounds that make the run end with exit code 1; one bound or a list of them a metric."""

    stale_rate: Gates = Field([], description="share of trajectories with a stale execution")
    success_rate: Gates = Field([], description="share of trajectories that end on the target")
    delay_s: Gates = Field([], description="mean delay of the successful trajectories, in seconds")
    cost: Gates = Field([], description="mean realized cost")
    failures: Gates = Field([], description="count of trajectories that raised")


class ActionsFile(_Part):
    """`actions/NAME.yaml`: actions that several scenarios share."""

    schema_: Literal["actions/v1"] = Field(alias="schema")
    description: str | None = None
    actions: list[ActionPart] = Field(min_length=1)


class ScenarioFile(_Part):
    """Policies x actions x checkpoints x replications over recordings."""

    schema_: Literal["scenario/v1"] = Field(alias="schema")
    name: Name
    description: str | None = None
    traces: Annotated[Any, BeforeValidator(_traces)] = Field(
        description="a pack, a file, or recordings written here"
    )
    where: dict[str, Any] = Field({}, description="keep recordings with these values")
    control: ControlPart = ControlPart()
    faults: FaultsPart | None = Field(None, description="what goes wrong; nothing by default")
    channel: ChannelPart = ChannelPart()
    actions: list[ActionPart] = Field(min_length=1)
    policies: list[PolicyPart] = Field(min_length=1)
    checkpoints: list[Name] = Field([], description="forecasts that the recordings carry")
    replications: int = Field(1, ge=1)
    seed: int = Field(0, ge=0)
    gates: GatesPart = GatesPart()
