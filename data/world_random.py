"""Random choices addressed by a key, never drawn in sequence: the same key gives the same choices on every machine."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from math import isqrt
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_LOW = 1 << 64
_ODD = 0xBF58476D1CE4E5B9


def mix(number: int) -> int:
    """Return a 64-bit hash of a whole number (the finaliser of SplitMix64; Steele, Lea and Flood, 2014)."""
    x = (number * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


class Draws:
    """A stream of choices that depends on nothing but its key.

    Args:
        key: whole numbers of 64 bits.
    """

    __slots__ = ("_block", "_key", "_rest")

    def __init__(self, *key: int) -> None:
        self._key = struct.pack(f"<{len(key)}Q", *key)
        self._block = 0
        self._rest = self._digest()

    def _digest(self) -> int:
        data = self._key + self._block.to_bytes(4, "little")
        self._block += 1
        return int.from_bytes(hashlib.blake2b(data).digest(), "little")

    def below(self, n: int) -> int:
        """Return a whole number in [0, n)."""
        if self._rest < _LOW:
            self._rest = self._digest()
        self._rest, value = divmod(self._rest, n)
        return value

    def chance(self, percent: int) -> bool:
        """Return True in ``percent`` of 100 cases."""
        return self.below(100) < percent

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of the choices, all equally likely."""
        return choices[self.below(len(choices))]

    def sample(self, choices: Sequence[T], count: int) -> list[T]:
        """Return ``count`` choices that follow one another in the given order, from a place of chance on."""
        start = self.below(len(choices))
        return [choices[(start + i) % len(choices)] for i in range(count)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in an order of chance (Fisher and Yates)."""
        out = list(items)
        for left in range(len(out), 1, -1):
            j = self.below(left)
            out[left - 1], out[j] = out[j], out[left - 1]
        return out


class Permutation:
    """A keyed bijection of 0 … n-1 that needs no table: four Feistel rounds over a rectangle just large enough.

    After Black and Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002).

    Args:
        n: how many numbers, at least 1.
        key: a 64-bit number.
    """

    __slots__ = ("_a", "_b", "_keys", "n")

    def __init__(self, n: int, key: int) -> None:
        self.n = n
        self._a = isqrt(n - 1) + 1
        self._b = -(-n // self._a)
        self._keys = tuple(mix(key + i) for i in range(4))

    def __call__(self, x: int) -> int:
        """Return the image of ``x``."""
        a, b, (k0, k1, k2, k3) = self._a, self._b, self._keys
        while True:
            right, left = divmod(x, a)
            left = (left + (((right ^ k0) * _ODD & _MASK) >> 33)) % a
            right = (right + (((left ^ k1) * _ODD & _MASK) >> 33)) % b
            left = (left + (((right ^ k2) * _ODD & _MASK) >> 33)) % a
            right = (right + (((left ^ k3) * _ODD & _MASK) >> 33)) % b
            x = left + a * right
            if x < self.n:
                return x

    def inverse(self, x: int) -> int:
        """Return the number whose image is ``x``."""
        a, b, (k0, k1, k2, k3) = self._a, self._b, self._keys
        while True:
            right, left = divmod(x, a)
            right = (right - (((left ^ k3) * _ODD & _MASK) >> 33)) % b
            left = (left - (((right ^ k2) * _ODD & _MASK) >> 33)) % a
            right = (right - (((left ^ k1) * _ODD & _MASK) >> 33)) % b
            left = (left - (((right ^ k0) * _ODD & _MASK) >> 33)) % a
            x = left + a * right
            if x < self.n:
                return x


class Assignment:
    """A keyed map of 0 … n-1 onto 0 … targets-1, evenly loaded, that can be followed in both directions."""

    __slots__ = ("_permutation", "targets")

    def __init__(self, n: int, targets: int, key: int) -> None:
        self._permutation = Permutation(n, key)
        self.targets = targets

    def target(self, source: int) -> int:
        """Return what ``source`` is assigned to."""
        return self._permutation(source) % self.targets

    def sources(self, target: int) -> list[int]:
        """Return everything assigned to ``target``."""
        return [self._permutation.inverse(x) for x in range(target, self._permutation.n, self.targets)]
