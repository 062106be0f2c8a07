"""Timing side by side: the contenders take turns, and the ratio is that of their medians."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).parent / "records"


def medians(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int,
    block: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median seconds of a call of each contender.

    In each of ``rounds`` rounds every contender makes ``block`` calls in a row, each timed by itself. With a block of 1
    each call finds the caches as another contender left them; a longer one resembles a program that runs one of them.
    Where all work is done in this thread, ``time.thread_time`` as ``clock`` leaves out what other programs take.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for call in contenders.values():
        call()
    for _ in range(rounds):
        for name, call in contenders.items():
            for _ in range(block):
                begun = clock()
                call()
                seconds[name].append(clock() - begun)
    return {name: statistics.median(values) for name, values in seconds.items()}


def record(name: str, numbers: Mapping[str, Any]) -> None:
    """Print the numbers and write them, with the machine's kind, to ``records/speed_<name>.json``."""
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    RECORDS.mkdir(exist_ok=True)
    text = json.dumps({"benchmark": name, **numbers, "environment": machine}, indent=2)
    (RECORDS / f"speed_{name}.json").write_text(text + "\n")
    print(text)
