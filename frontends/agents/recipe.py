"""What is drawn for a script, per workload; fixed before anything was played.

So that an agent that waits and blocks takes 4.5 to 7.6 s from the final query to the answer at 100
to 200 tokens a second, as in the paper's table; speed-ups were not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Ranges are uniform, of whole numbers inclusive; probabilities are per call unless said.

    - `calls`: how many; `chain`: each reads the result of the one before, else some refer to the
      results of earlier reads;
    - `tools`: name, effect, and the range of the runtime in seconds, one a script;
    - `rate`: tokens a second; `think`, `answer_think`, `answer`: tokens;
    - `words`: of the query, without what is inserted; what calls need is said after its share
      `earliest`; `pace`: words a second; `prefix_s`: the query
      reaches the agent in pieces of this length, `recognition_s` after their end;
    - `guess`: a call is first made before its word is said, and changed then;
    - `correction`: the word is taken back for another one later; `removal`: the call is dropped
      later, where nothing depends on it; `filler`: an "um", per word;
    - slips of an agent that speculates: `repeat`: makes a call again, per update heard, once more
      with probability `again`; `missed`: overlooks a correction.
    """

    workload: str
    calls: tuple[int, int]
    chain: bool
    tools: tuple[tuple[str, str, Range], ...]
    think: tuple[int, int]
    answer_think: tuple[int, int] = (30, 70)
    answer: tuple[int, int] = (15, 40)
    rate: tuple[int, int] = (100, 200)
    words: tuple[int, int] = (12, 24)
    pace: Range = (2.2, 3.2)
    prefix_s: float = 0.96
    recognition_s: float = 0.3
    guess: float = 0.25
    correction: float = 0.0
    removal: float = 0.0
    filler: float = 0.0
    repeat: float = 0.0
    again: float = 0.5
    missed: float = 0.0
    runtime_scale: float = 1.0
    words_scale: float = 1.0
    earliest: float = 0.2


_SEARCH: Final = (("search", "read", (0.6, 1.6)),)
_OFFICE: Final = (
    ("find_contact", "read", (0.2, 0.8)),
    ("find_slot", "read", (0.3, 1.2)),
    ("create_event", "write", (0.3, 1.0)),
    ("send_message", "write", (0.2, 0.8)),
)

CHAINS: Final = Recipe("chains", (2, 4), True, _SEARCH, (30, 80))
DAGS: Final = Recipe("dags", (3, 8), False, _OFFICE, (20, 50))
SPEECH: Final = replace(
    DAGS,
    workload="speech",
    correction=0.3,
    removal=0.1,
    filler=0.12,
    repeat=0.25,
    missed=0.05,
)

RECIPES: Final = {recipe.workload: recipe for recipe in (CHAINS, DAGS, SPEECH)}
