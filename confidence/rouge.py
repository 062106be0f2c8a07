"""RougeL: how much of a reference runs through a text in order (Lin 2004)."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[a-z0-9]+")


def rouge_l(text: str, reference: str) -> float:
    """Return the F1 in [0, 1] of the longest common subsequence of lower-cased tokens; 0 where either has none.

    As the package ``rouge-score`` computes ``rougeL`` without stemming; tokens are runs of ASCII letters and digits.
    """
    found, wanted = _TOKEN.findall(text.lower()), _TOKEN.findall(reference.lower())
    shared = common_subsequence(found, wanted)
    return 2 * shared / (len(found) + len(wanted)) if shared else 0.0


def common_subsequence(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence, bit-parallel (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << place
    full = (1 << len(first)) - 1
    open_places = full
    for token in second:
        matched = open_places & places.get(token, 0)
        open_places = ((open_places + matched) | (open_places - matched)) & full
    return len(first) - open_places.bit_count()
