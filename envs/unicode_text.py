"""A text space that takes every character, which passages from the world's encyclopedias need."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces


class UnicodeText(spaces.Text):
    """Strings of at most ``max_length`` characters of any alphabet; samples are of ASCII letters and digits."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0)

    def contains(self, x: Any) -> bool:
        """Say whether ``x`` is a string that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length
