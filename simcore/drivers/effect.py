"""Commands take effect: the one place where a policy's words reach the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.commands import Cancel, Commit, Launch, Restart, Select, Update
from simcore.ledger import IllegalCommandError

if TYPE_CHECKING:
    from simcore.commands import Answer, Command
    from simcore.ledger import Ledger


def commands_of(answer: Answer) -> tuple[Command, ...]:
    """An answer as a tuple of commands.

    Every command is a named tuple, so only a bundle of them is a plain one.
    """
    if answer is None:
        return ()
    return answer if type(answer) is tuple else (answer,)  # type: ignore[return-value]


def apply(command: Any, ledger: Ledger, parallel: bool) -> None:
    """Carry out one command now.

    Raises `IllegalCommandError` for one that the state of the calls, or a policy without parallel
    calls, does not allow.
    """
    kind = type(command)
    if kind is Launch:
        if ledger.held is not None and not parallel:
            raise IllegalCommandError("a launch while a call is active")
        ledger.launch(command.argument)
    elif kind is Update:
        ledger.update(command.argument, reuse=command.reuse, call=command.call)
    elif kind is Cancel:
        ledger.cancel(command.call)
    elif kind is Restart:
        ledger.restart(command.argument, command.call)
    elif kind is Select:
        ledger.select(command.argument)
    elif kind is Commit:
        ledger.commit(command.call)
    else:
        raise IllegalCommandError(f"{command!r} is not a command that can be carried out")
