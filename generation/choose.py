"""The generator that a setting names."""

from __future__ import annotations

from pathlib import Path

from .base import Generator
from .extractive import ExtractiveGenerator


def load_generator(wanted: str) -> Generator:
    """Return the packaged generator for "packaged", else the one saved in the folder ``wanted``.

    Of a cross-fitted one it is the model fitted on all questions.

    Raises:
        DataError: if the folder holds no generator or a damaged one.
    """
    if wanted == "packaged":
        return ExtractiveGenerator.default()
    folder = Path(wanted)
    if (folder / "full").is_dir():
        # Fitting brings scikit-learn, which reading alone does not need.
        from .fit import CrossFitted

        return CrossFitted.load(folder).full
    return ExtractiveGenerator.load(folder)
