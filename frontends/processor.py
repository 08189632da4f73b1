"""Which vector instructions this processor has."""

from __future__ import annotations

from typing import Any

import numpy as np


def instruction_set() -> str:
    """The widest that numpy finds, such as `X86_V3` or `AVX512_ICL`.

    Networks of 8-bit numbers round and saturate otherwise on another, so what they speak and hear
    is the same only on processors of one kind; and even there a text may turn where another model
    adds in another order.
    """
    found: Any = np.show_config(mode="dicts")
    extensions = found["SIMD Extensions"]
    return str([*extensions["baseline"], *extensions["found"]][-1])
