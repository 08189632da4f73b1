"""`script/v1` as it stands in a file: names, types and ranges of every value on its own.

What relates steps to each other is in `simcore.agent.check`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from simcore.agent.check import faults
from simcore.agent.script import TOKENS_PER_SECOND
from simcore.files.durations import Duration
from simcore.files.faults import explain, path_text
from simcore.files.trace_model import Name, Text

SCHEMA = "script/v1"

Ident = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
Length = Annotated[int, Field(ge=0)] | Text
"""A number of tokens, or what is written."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ScriptTool(_Part):
    """How long a tool runs, and whether it only reads."""

    runtime: Duration
    effect: Literal["read", "write"] = "read"


class UpdatePart(_Part):
    """More of the query reaches the agent; the last update completes it."""

    at: Duration
    text: Text = ""


class StepPart(_Part):
    """Thinking, and then one of `call`, `remove` and `answer`, or none."""

    heard: int | None = Field(
        None, ge=0, description="updates that must have been heard; all by default"
    )
    results: list[Ident] = Field([], description="calls whose results the agent reads first")
    think: Length = Field(0, description="tokens before it acts, or their text")
    call: Ident | None = Field(None, description="makes a call, or changes the one of this id")
    tool: Name | None = None
    arguments: dict[str, Any] = Field({}, description="'$id' stands for the result of a call")
    remove: Ident | None = Field(None, description="takes a call back, and all that needs it")
    answer: Length | None = Field(None, description="ends the script")
    slip: Literal["repeat", "missed"] | None = Field(
        None, description="what only a speculating agent does wrong"
    )

    @model_validator(mode="after")
    def _one_act(self) -> StepPart:
        acts = [name for name in ("call", "remove", "answer") if getattr(self, name) is not None]
        if len(acts) > 1:
            raise ValueError(f"a step has one act, this has '{acts[0]}' and '{acts[1]}'")
        if (self.call is None) is not (self.tool is None):
            raise ValueError("'call' and 'tool' belong together")
        if self.slip is not None and not (self.call or (self.remove and self.slip == "missed")):
            raise ValueError(f"nothing in this step can be a '{self.slip}' slip")
        return self


class ScriptPart(_Part):
    """One query and what the agent does about it."""

    id: Name
    workload: Text | None = Field(None, description="the recording's subset")
    tokens_per_second: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = (
        TOKENS_PER_SECOND
    )
    tools: dict[Name, ScriptTool] = Field({}, min_length=1)
    speech: list[UpdatePart] = Field(min_length=1)
    steps: list[StepPart] = Field(min_length=1)


class ScriptRow(ScriptPart):
    """A line of a script file in JSON Lines."""

    schema_: Literal["script/v1"] = Field(alias="schema")


def row_faults(row: Any) -> list[tuple[tuple[int | str, ...], str]]:
    """Every fault of a row, with its place within it."""
    if not isinstance(row, dict):
        return [((), f"a script is an object, not {type(row).__name__}")]
    try:
        ScriptRow.model_validate(row)
    except ValidationError as error:
        return [(_plain(place), text) for place, text in explain(error, ScriptRow)]
    return faults(row)


def check_row(row: Any) -> None:
    """Raises ``ValueError`` with the first fault of a row."""
    for place, text in row_faults(row):
        raise ValueError(f"'agent.{path_text(place)}': {text}")


def _plain(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    # Pydantic names the member of a union behind the key; people do not.
    return tuple(part for part in place if isinstance(part, int) or "[" not in part)
