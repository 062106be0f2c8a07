"""What a question and a text look like, whatever one says of the other."""

from __future__ import annotations

from ..retrieval.asked import SHAPE, Asked, Sight

FORM = (*SHAPE, "length", "sentences", "bracketed", "years", "numbers", "names")
"""Names of :func:`form_row`, in order."""


def form_row(asked: Asked, sight: Sight) -> tuple[float, ...]:
    """Return the question's shape, and how long the text is and what it holds of years, numbers and names."""
    read = sight.read
    numbers = [term for term in read.terms if term.isdigit()]
    return (
        *asked.shape,
        float(read.length),
        float(len(read.sentences)),
        float(read.bracketed),
        float(sum(len(number) == 4 for number in numbers)),
        float(sum(len(number) != 4 for number in numbers)),
        float(len(read.names)),
    )
