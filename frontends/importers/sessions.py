"""Seeded sessions of a live agent around four recorded scenarios: what a client would receive.

A user books a slot and then says stop (at any time from before the call to after the commit), or
says something harmless, corrects himself, or makes a noise. Ranges are those measured on live
sessions and in the field; the agent's own behaviour (whether it calls again, when it speaks) is
drawn with the rates of the recorded sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simcore.keys import business_key
from simcore.streams import stream
from simcore.trace import AgentEvent, Recording, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from simcore.clock import Microseconds

FIELDS: Final = (("slot", "datetime"),)
GRACE_S: Final = 1.5
"""The recorded guard's grace, to which a stop's time is compared when sessions are named."""

_KINDS: Final = (
    *("stop",) * 6,
    "stop in other words",
    "stop never transcribed",
    "plain",
    "plain",
    "backchannel",
    "backchannel",
    "noise",
    "noise",
    "correction",
    "rebooking",
)
_STOPS: Final = (
    "Actually, stop. Don't book it.",
    "Wait, cancel that.",
    "No, never mind.",
    "Hold on, please do not book it.",
)
_OTHER_STOPS: Final = ("Forget it, thanks.", "Scrap that, please.", "No no, leave it.")
_BACKCHANNELS: Final = (
    *(
        "Okay.",
        "Mhm, great.",
        "Thank you.",
        "Yes.",
        "Right.",
        "Uh-huh.",
        "Perfect.",
        "Good.",
        "Yeah.",
    ),
    "Okay, don't rush.",  # one in ten holds a word that stops
)
_CORRECTIONS: Final = ("Wait, make it 4 p.m.", "Sorry, 4 p.m. please.", "No, hold on, 4:00 p.m.")
_REBOOKINGS: Final = ("Actually yes, book it after all.", "Sorry, do book the 3 p.m. slot.")
_WRITTEN: Final = ("tomorrow 3pm", "tomorrow at 3pm", "tomorrow at 3 PM", "tomorrow 15:00")
_REISSUED: Final = 2 / 3
"""4 of 6 recorded calls that an interruption dropped were made again."""


def sessions(count: int, seed: int) -> Iterator[Recording]:
    """`count` sessions; the n-th is the same for any count.

    `subset` says what the user does, `variant` whether the agent waits for its calls.
    """
    for number in range(count):
        yield _Session(number, stream(seed, "session", number)).recording()


@dataclass
class _Session:
    """One session being written; times are seconds until the end."""

    number: int
    random: np.random.Generator
    events: list[AgentEvent] = field(default_factory=list)
    replies: list[tuple[float, float]] = field(default_factory=list)
    onsets: list[float] = field(default_factory=list)

    def recording(self) -> Recording:
        kind = _KINDS[self.number % len(_KINDS)]
        self.blocking = self.number // len(_KINDS) % 2 == 1
        self.service_s = self._service()
        # How long after its end an utterance's transcript comes: three kinds of recognizers.
        low, high = ((1.2, 1.3), (0.7, 0.8), (0.25, 0.35))[self.random.integers(3)]
        self.transcript_s = self._between(low, high)
        request = "Book me the 3:00 p.m. slot tomorrow, please."
        end = self._between(2.5, 4.0)
        words, gap = self._second(kind)
        self._put(end - 2.0, "user_audio_start", label="request")
        self._put(end, "user_audio_end", label="request")
        # Within the silence that ends a turn, what follows is part of the same utterance.
        heard = words is not None and kind not in ("noise", "stop never transcribed")
        merged = gap < self._between(0.4, 0.9) and heard
        self._put(end - 2.0 + self._onset(), "activity_start")
        target, origin = "tomorrow 15:00", end
        if words is None:
            self.call_s = self._called(end, request)
            subset = kind
        else:
            subset = self._said(kind, words, end, end + gap, merged, request)
            if kind == "correction":
                target, origin = "tomorrow 16:00", end + gap + self.length_s
            if kind == "rebooking":
                origin = self._rebooked(end + gap + self.length_s)
        self._speak()
        wanted = kind not in ("stop", "stop in other words", "stop never transcribed")
        return Recording(
            recording_id=f"s{self.number:05}",
            corpus="guard",
            subset=subset,
            variant="blocking" if self.blocking else "non-blocking",
            audio_end_us=max(event.at_us for event in self.events),
            origin_us=_us(origin) if wanted else None,
            labelled=True,
            target=_key(target) if wanted else None,
            events=tuple(sorted(self.events, key=lambda event: event.at_us)),
            settings=canonical(
                {
                    "behavior": "BLOCKING" if self.blocking else "NON_BLOCKING",
                    "tool": {"runtime_us": _us(self.service_s)},
                }
            ),
        )

    def _service(self) -> float:
        """Tools of the field: fast ones, the recorded 4 s and 7 s, and slow ones."""
        pick = self.random.random()
        if pick < 0.3:
            return self._between(0.05, 2.0)
        if pick < 0.7:
            return 4.0 if self.random.random() < 0.7 else 7.0
        return self._between(5.0, 25.0)

    def _second(self, kind: str) -> tuple[str | None, float]:
        """What the user says after the request, and how long after its end."""
        texts = {
            "stop": _STOPS,
            "stop never transcribed": _STOPS,
            "stop in other words": _OTHER_STOPS,
            "backchannel": _BACKCHANNELS,
            "correction": _CORRECTIONS,
            "rebooking": _STOPS,
            "noise": ("",),
        }.get(kind)
        if texts is None:
            return None, 0.0
        if kind in ("stop", "stop in other words", "stop never transcribed"):
            # From before the call to after a guard's commit.
            latest = self.transcript_s + self.service_s + GRACE_S + 3.0
        else:
            latest = self.transcript_s + self.service_s
        return texts[self.random.integers(len(texts))], self._between(0.2, latest)

    def _said(
        self, kind: str, words: str, end: float, start: float, merged: bool, request: str
    ) -> str:
        """The second utterance with what follows from it; returns the session's subset."""
        self.length_s = self._between(0.3, 0.8) if kind == "noise" else self._between(0.6, 2.6)
        stops = kind.startswith("stop") or kind == "rebooking"
        label = "stop" if stops else kind
        self._put(start, "user_audio_start", label=label)
        self._put(start + self.length_s, "user_audio_end", label=label)
        if merged:
            self.call_s = self._called(start + self.length_s, f"{request} {words}", kind)
            return "stop before the call" if kind == "stop" else kind
        self.call_s = self._called(end, request)
        onset = start + self._onset()
        self._put(onset, "activity_start")
        self.onsets.append(onset)
        dropped = self.blocking and self.call_s < onset < self.call_s + self.service_s
        if dropped:
            self._put(onset, "interrupted")
        heard = start + self.length_s + self.transcript_s
        if kind not in ("noise", "stop never transcribed"):
            self._put(heard, "input_transcript", text=words)
            self._reply(heard)
        if kind == "correction":
            self._call(heard + self._between(0.001, 0.3), "tomorrow 4pm")
        elif dropped and self.random.random() < _REISSUED:
            again = _WRITTEN[self.random.integers(len(_WRITTEN))]
            self._call(heard + self._between(0.001, 0.3), again, label="reissue")
        if kind != "stop":
            return kind
        after = start - self.call_s
        if after < 0:
            return "stop before the call"
        if after < self.service_s:
            return "stop while preparing"
        return "stop in the grace" if after < self.service_s + GRACE_S else "stop after due"

    def _rebooked(self, end: float) -> float:
        """The user wants it after all, within half a minute; returns when that was said."""
        start = end + self.transcript_s + self._between(2.0, 12.0)
        done = start + self._between(1.0, 2.5)
        self._put(start, "user_audio_start", label="request")
        self._put(done, "user_audio_end", label="request")
        onset = start + self._onset()
        self._put(onset, "activity_start")
        self.onsets.append(onset)
        words = _REBOOKINGS[self.random.integers(len(_REBOOKINGS))]
        heard = done + self.transcript_s
        self._put(heard, "input_transcript", text=words)
        self._call(heard + self._between(0.001, 0.3), _WRITTEN[self.random.integers(4)])
        return done

    def _called(self, end: float, text: str, kind: str | None = None) -> float:
        """The transcript of what led to the call, and the call; returns when it came."""
        heard = end + self.transcript_s
        self._put(heard, "input_transcript", text=text)
        at = heard + (self._between(0.0, 0.003) if kind is None else self._between(0.001, 0.366))
        slot = "tomorrow 4pm" if kind == "correction" else _WRITTEN[self.random.integers(4)]
        self._call(at, slot)
        if not self.blocking:
            self._reply(at + 0.3)
        return at

    def _call(self, at: float, slot: str, label: str | None = None) -> None:
        ident = f"call-{1 + sum(event.type == 'tool_call' for event in self.events)}"
        self.events.append(
            AgentEvent(
                _us(at), "tool_call", ident, "book_slot", canonical({"slot": slot}), label=label
            )
        )

    def _reply(self, heard: float) -> None:
        """The agent speaks; a quarter of the replies begin before the transcript is sent on."""
        start = heard + self._between(-0.15, 0.45)
        self.replies.append((start, start + self._between(1.5, 4.0)))

    def _speak(self) -> None:
        """Put the replies in; a voice cuts them."""
        for start, end in self.replies:
            cut = min((onset for onset in self.onsets if onset > start), default=end)
            self._put(start, "agent_audio_start")
            self._put(min(end, cut), "agent_audio_end")

    def _put(self, at: float, kind: str, text: str | None = None, label: str | None = None) -> None:
        self.events.append(AgentEvent(_us(at), kind, text=text, label=label))

    def _onset(self) -> float:
        return self._between(0.139, 0.261)

    def _between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))


def _us(at: float) -> Microseconds:
    return round(at * 1_000) * 1_000


def _key(slot: str) -> str:
    return business_key("book_slot", canonical({"slot": slot}), FIELDS)
