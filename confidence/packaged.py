"""The evaluator that ships with the package, fitted and calibrated on the synthetic world."""

from __future__ import annotations

from pathlib import Path

PACKAGED = "packaged"
DEFAULT = Path(__file__).parent / "default"
