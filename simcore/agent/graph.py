"""Which calls stand, and which of them need the results of which."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simcore.agent.script import Call


class Graph:
    """The calls that stand, by id, in the order in which they were first made."""

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}

    def put(self, call: Call) -> None:
        """Make a call, or change it."""
        self.calls[call.id] = call

    def dependants(self, ident: str) -> list[str]:
        """The ids that need a call's result, directly or through others."""
        found: dict[str, None] = {}
        waiting = [ident]
        while waiting:
            needed = waiting.pop()
            for call in self.calls.values():
                if needed in call.references and call.id not in found:
                    found[call.id] = None
                    waiting.append(call.id)
        return list(found)

    def remove(self, ident: str) -> list[str]:
        """Take a call back, and with it all that need it; the ids."""
        gone = [ident, *(other for other in self.dependants(ident) if other != ident)]
        for other in gone:
            self.calls.pop(other, None)
        return gone


def in_order(needs: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Ids so that each comes after what it needs, else as given. Raises ``ValueError`` on a cycle.

    >>> in_order({"a": ("b",), "b": (), "c": ()})
    ['b', 'a', 'c']
    """
    done: dict[str, bool] = {}

    def visit(ident: str, path: tuple[str, ...]) -> Iterator[str]:
        if ident in path:
            circle = " -> ".join((*path[path.index(ident) :], ident))
            raise ValueError(f"the calls need each other in a circle: {circle}")
        if ident in done:
            return
        for other in needs[ident]:
            yield from visit(other, (*path, ident))
        done[ident] = True
        yield ident

    return [ident for start in needs for ident in visit(start, ())]
