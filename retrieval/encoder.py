"""What turns texts into vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage


class Encoder(ABC):
    """Embeds passages and queries in one space, in which the inner product of unit vectors is their likeness.

    Attributes:
        dimension: length of a vector.
    """

    dimension: int

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of the weights and of every setting that can change a vector."""

    @abstractmethod
    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimension) unit vectors of passages; an empty text has one as well."""

    @abstractmethod
    def query(self, text: str) -> NDArray[np.float32]:
        """Return the (dimension,) unit vector of a query.

        Queries are embedded one by one: a vector's last bits depend on what else is in its batch.
        """


def passage_text(passage: Passage) -> str:
    """Return what is embedded of a passage: title and text."""
    return f"{passage.title}. {passage.text}"
