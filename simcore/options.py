"""Types that a policy's options may have beside plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from simcore.clock import parse_duration

if TYPE_CHECKING:
    from pydantic_core import CoreSchema


class _Duration:
    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: Any) -> CoreSchema:
        # Imported where options are checked: a policy is also made without pydantic.
        from pydantic_core.core_schema import no_info_plain_validator_function

        return no_info_plain_validator_function(_microseconds)


def _microseconds(value: Any) -> int:
    if not isinstance(value, str | int | float):
        raise ValueError("a duration is a number of seconds or text such as '320 ms'")
    return parse_duration(value)


Duration = Annotated[int, _Duration]
"""Microseconds in Python; "1.5 s" or a number of seconds in a scenario."""
