"""When a call to a server is made again, and after how long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any, TypeVar

from .errors import RequestFailedError

T = TypeVar("T")
FIRST_WAIT = 0.5
"""Seconds before the second attempt, at the most; each further wait may be twice as long."""


class TransientError(RequestFailedError):
    """A call that may succeed when made again.

    Args:
        message: what happened.
        wait: seconds that the server asks to wait, None if it does not.
        unreachable: whether no connection could be made at all.
    """

    def __init__(self, message: str, wait: float | None = None, unreachable: bool = False) -> None:
        super().__init__(message)
        self.wait = wait
        self.unreachable = unreachable


class Gate:
    """Holds every call back while the server wants a pause."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._until = 0.0

    def close_for(self, seconds: float) -> None:
        """Let no call begin for so long."""
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def pass_through(self) -> None:
        """Return when calls may begin."""
        while (left := self._until - time.monotonic()) > 0:
            time.sleep(left)


def persistently(call: Callable[[], T], retries: int, max_wait: float) -> T:
    """Return what ``call`` returns, made again after a ``TransientError`` as often as ``retries`` says.

    The wait is what the server asks for, else random up to a bound that doubles with each attempt; both with some
    jitter, so that calls held back together do not come back together.

    Raises:
        TransientError: the last one; at once where the server asks for a longer wait than ``max_wait``.
    """
    from tenacity import Retrying, retry_if_exception, stop_after_attempt

    def again(error: BaseException) -> bool:
        return isinstance(error, TransientError) and (error.wait is None or error.wait <= max_wait)

    def wait(state: Any) -> float:
        error = state.outcome.exception()
        if error.wait is None:
            return random.uniform(0.5, 1.0) * float(min(max_wait, FIRST_WAIT * 2 ** (state.attempt_number - 1)))
        return float(error.wait + random.uniform(0.0, 0.1 * error.wait))

    return Retrying(stop=stop_after_attempt(retries + 1), wait=wait, retry=retry_if_exception(again), reraise=True)(
        call
    )


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or a date; None without a readable one."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, min(float(value), 1e9))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
