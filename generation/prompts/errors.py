"""The error of a reply that is not what was asked for."""

from __future__ import annotations

from ...data.errors import RequestFailedError


class ParseError(RequestFailedError):
    """A reply that cannot be used; the message says what was expected and what was found, in one line.

    It is shown to the model in the attempt at repair, and stands in the episode's record where that fails, too.
    """
