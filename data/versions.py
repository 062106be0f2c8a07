"""The versions that a result depends on."""

from __future__ import annotations

import platform
from importlib.metadata import version

from .. import __version__

_PACKAGES = ("numpy", "scikit-learn", "scipy", "numba", "bm25s", "gymnasium", "pyarrow")


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of those that it computes with, by name."""
    own = {"evidencegym": __version__, "python": platform.python_version()}
    return own | {name: version(name) for name in _PACKAGES}
