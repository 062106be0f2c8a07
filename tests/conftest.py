"""Where optional real benchmark files lie: ``EVIDENCEGYM_DATA``, else a ``shared/data`` folder beside the checkout."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """Return a function that finds a real file by its path under the data folder, or skips the test."""
    folder = Path(os.environ.get("EVIDENCEGYM_DATA", Path(__file__).parents[2] / "shared" / "data"))

    def find(relative: str) -> Path:
        file = folder / relative
        if not file.is_file():
            pytest.skip(f"optional real benchmark file is absent: {file}")
        return file

    return find
