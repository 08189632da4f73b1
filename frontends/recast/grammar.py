"""What can be said: values, carriers and editing phrases of the four domains.

Carriers, fillers, tails and voices of the test are disjoint from the source's; half of its editing
phrases share no word with any of the source's. Values come from one lexicon, as in a real
deployment. No carrier, filler or tail mentions a value of its domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from random import Random

Domain = Literal["time", "amount", "location", "contact"]
Split = Literal["source", "test"]

DOMAINS: Final[tuple[Domain, ...]] = ("time", "amount", "location", "contact")

VOICES: Final[dict[Split, tuple[str, ...]]] = {
    "source": ("af_heart", "am_fenrir", "bm_george"),
    "test": ("af_bella", "am_puck"),
}
RESERVED_TEST_VOICES: Final = frozenset({"am_michael", "bf_emma"})
"""Kept for ReCAST's own test set: no pilot, no training recording may use them."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A request around a value: `opening` ends in the value, `filler` follows it.

    A correction without an editing phrase says `restart` and `again`; one with a phrase says the
    phrase and `again`, which ends in the new value.
    """

    id: str
    opening: str
    filler: str
    restart: str
    again: str


@dataclass(frozen=True, slots=True)
class Edit:
    """An editing phrase; `seen`: its words occur among the source's."""

    id: str
    text: str
    seen: bool = True


@dataclass(frozen=True, slots=True)
class Spoken:
    """A value as it is said, and the call that it means."""

    text: str
    argument: dict[str, Any]


def _carriers(prefix: str, *rows: tuple[str, str, str, str]) -> tuple[Carrier, ...]:
    return tuple(Carrier(f"{prefix}{i}", *row) for i, row in enumerate(rows, start=1))


CARRIERS: Final[dict[Split, dict[Domain, tuple[Carrier, ...]]]] = {
    "source": {
        "time": _carriers(
            "source-time-",
            (
                "Please book a table for {value}",
                "out on the terrace",
                "book the table",
                "for {value}",
            ),
            (
                "Set up the team meeting at {value}",
                "in the big room",
                "set up the meeting",
                "at {value}",
            ),
            (
                "I need a haircut appointment at {value}",
                "with my usual barber",
                "an appointment",
                "at {value}",
            ),
            (
                "Reserve the tennis court at {value}",
                "under my name",
                "reserve the court",
                "at {value}",
            ),
            (
                "Schedule the dentist visit for {value}",
                "at the new practice",
                "schedule the visit",
                "for {value}",
            ),
        ),
        "amount": _carriers(
            "source-amount-",
            (
                "Please transfer {value}",
                "to my savings account",
                "please transfer",
                "{value}",
            ),
            (
                "I want to send {value}",
                "to my landlord",
                "I want to send",
                "{value}",
            ),
            (
                "Pay the electrician {value}",
                "from the joint account",
                "pay the electrician",
                "{value}",
            ),
            (
                "Set the spending limit to {value}",
                "on my credit card",
                "set the limit",
                "to {value}",
            ),
            (
                "Donate {value}",
                "to the animal shelter",
                "please donate",
                "{value}",
            ),
        ),
        "location": _carriers(
            "source-location-",
            (
                "Get me a taxi to {value}",
                "as soon as possible",
                "get me a taxi",
                "to {value}",
            ),
            (
                "Start the navigation to {value}",
                "and avoid the highway",
                "start the navigation",
                "to {value}",
            ),
            (
                "Send the package to {value}",
                "by express delivery",
                "send the package",
                "to {value}",
            ),
            (
                "Show me the way to {value}",
                "on foot if possible",
                "show me the way",
                "to {value}",
            ),
            (
                "I need a ride to {value}",
                "with my two suitcases",
                "I need a ride",
                "to {value}",
            ),
        ),
        "contact": _carriers(
            "source-contact-",
            (
                "Please call {value}",
                "on the mobile phone",
                "please call",
                "my friend {value}",
            ),
            (
                "Send the report to {value}",
                "as an attachment",
                "send the report",
                "to {value}",
            ),
            (
                "Write a message to {value}",
                "about the party",
                "write a message",
                "to {value}",
            ),
            (
                "Forward this email to {value}",
                "with all the pictures",
                "forward the email",
                "to {value}",
            ),
            (
                "Start a video chat with {value}",
                "on the big screen",
                "start a video chat",
                "with {value}",
            ),
        ),
    },
    "test": {
        "time": _carriers(
            "test-time-",
            (
                "Wake me up tomorrow at {value}",
                "with some soft music",
                "wake me up",
                "at {value}",
            ),
            (
                "Could you order a cab for {value}",
                "with a child seat",
                "order the cab",
                "for {value}",
            ),
            (
                "Remind me to take my medicine at {value}",
                "with a loud sound",
                "remind me",
                "at {value}",
            ),
            (
                "Move my piano lesson to {value}",
                "and tell the teacher",
                "move the lesson",
                "to {value}",
            ),
            (
                "Turn the heating on at {value}",
                "in the living room",
                "turn the heating on",
                "at {value}",
            ),
        ),
        "amount": _carriers(
            "test-amount-",
            (
                "Top up my travel card with {value}",
                "right away",
                "top up the card",
                "with {value}",
            ),
            (
                "Could you withdraw {value}",
                "for the weekend",
                "could you withdraw",
                "{value}",
            ),
            (
                "Make an offer of {value}",
                "for the old bicycle",
                "make an offer",
                "of {value}",
            ),
            (
                "The invoice should be {value}",
                "including the taxes",
                "the invoice should be",
                "{value}",
            ),
            (
                "Put {value}",
                "into the holiday fund",
                "please put in",
                "{value}",
            ),
        ),
        "location": _carriers(
            "test-location-",
            (
                "What is the weather like at {value}",
                "during the afternoon",
                "what is the weather like",
                "at {value}",
            ),
            (
                "Drive us to {value}",
                "along the scenic route",
                "drive us",
                "to {value}",
            ),
            (
                "Let us all meet at {value}",
                "by the main entrance",
                "let us meet",
                "at {value}",
            ),
            (
                "Have the flowers delivered to {value}",
                "with a nice card",
                "have the flowers delivered",
                "to {value}",
            ),
            (
                "Find some parking near {value}",
                "for a large van",
                "find some parking",
                "near {value}",
            ),
        ),
        "contact": _carriers(
            "test-contact-",
            (
                "Share my location with {value}",
                "until tonight",
                "share my location",
                "with {value}",
            ),
            (
                "Invite {value}",
                "to the barbecue",
                "please invite",
                "our neighbor {value}",
            ),
            (
                "Could you ring {value}",
                "about the concert tickets",
                "could you ring",
                "my colleague {value}",
            ),
            (
                "Leave a voicemail for {value}",
                "in a friendly tone",
                "leave a voicemail",
                "for {value}",
            ),
            (
                "Add {value}",
                "to the group chat",
                "please add",
                "my cousin {value}",
            ),
        ),
    },
}

EDITS: Final[dict[Split, tuple[Edit, ...]]] = {
    "source": (
        Edit("no-wait", "No, wait,"),
        Edit("sorry", "Sorry, I meant,"),
        Edit("actually", "Actually, no,"),
        Edit("i-mean", "I mean,"),
        Edit("scratch-that", "Scratch that,"),
        Edit("no-rather", "No, rather,"),
    ),
    "test": (
        Edit("no-wait", "No, wait,"),
        Edit("sorry-no", "Sorry, no,"),
        Edit("actually-no", "Actually, no,"),
        Edit("i-mean", "I mean,"),
        Edit("hang-on", "Hang on,", seen=False),
        Edit("my-mistake", "Oh, my mistake,", seen=False),
        Edit("second-thought", "Hmm, on second thought,", seen=False),
        Edit("oops", "Oops, let me correct this,", seen=False),
    ),
}

TAILS: Final[dict[Split, tuple[str, ...]]] = {
    "source": (
        "And let me know when it is done.",
        "Then read everything back to me, please.",
        "That would help me a lot today.",
        "Please take care of it right now.",
        "And keep a note of it for later.",
        "I really want to get this done today.",
        "It is quite important for all of us.",
        "Everything else can stay as it is.",
        "And please do not forget about it.",
        "You can use the same settings as always.",
    ),
    "test": (
        "Tell me once everything is ready.",
        "And add it to my activity log, please.",
        "The whole family is looking forward to it.",
        "Just do it the way we always do.",
        "And please be quick about it today.",
        "This has been on my list for weeks.",
        "I would be very happy with that.",
        "And show it to me on the display.",
        "My assistant already knows about it.",
        "There is nothing else to do for now.",
    ),
}

_HOURS: Final = (
    "twelve",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
)
_MINUTES: Final = {
    0: "",
    15: " fifteen",
    20: " twenty",
    30: " thirty",
    40: " forty",
    45: " forty five",
}

PLACES: Final = (
    "the airport",
    "the train station",
    "the city museum",
    "the public library",
    "the university",
    "the football stadium",
    "the town hall",
    "the shopping mall",
    "the botanical garden",
    "the opera house",
    "the children's hospital",
    "the harbor",
    "Riverside Park",
    "Oak Street",
    "Market Square",
    "Sunset Beach",
)
NAMES: Final = (
    "Anna",
    "David",
    "Maria",
    "Peter",
    "Laura",
    "Thomas",
    "Emily",
    "Oliver",
    "Rachel",
    "Kevin",
    "Julia",
    "Martin",
    "Nicole",
    "Victor",
    "Helen",
    "George",
    "Alice",
    "Daniel",
    "Sophie",
    "Robert",
)


def draw_value(domain: Domain, rng: Random) -> Spoken:
    """A value of the domain, in one of its spoken styles."""
    match domain:
        case "time":
            return _draw_time(rng)
        case "amount":
            amount = rng.choice(
                (*range(15, 100, 5), *range(100, 1000, 50), *range(1000, 2600, 100))
            )
            return Spoken(
                f"{amount} dollars",
                {
                    "tool": "transfer",
                    "arguments": {"amount": f"{amount}.00", "currency": "USD"},
                },
            )
        case "location":
            place = rng.choice(PLACES)
            name = place.removeprefix("the ")
            return Spoken(place, {"tool": "navigate", "arguments": {"location": name.lower()}})
        case "contact":
            name = rng.choice(NAMES)
            return Spoken(name, {"tool": "contact", "arguments": {"contact": name.lower()}})


def _draw_time(rng: Random) -> Spoken:
    hour, minute = rng.randrange(7, 22), rng.choice(tuple(_MINUTES))
    name = _HOURS[hour % 12]
    half = "a.m." if hour < 12 else "p.m."
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 17 else "in the evening"
    styles = [f"{name}{_MINUTES[minute]} {half}", f"{name}{_MINUTES[minute]} {part}"]
    if minute == 30:
        styles.append(f"half past {name} {part}")
    if minute == 15:
        styles.append(f"quarter past {name} {part}")
    time = f"{hour:02}:{minute:02}"
    return Spoken(rng.choice(styles), {"tool": "book", "arguments": {"time": time}})
