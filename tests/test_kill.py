"""Collection and evaluation killed with SIGKILL at a random moment and started again give the same bytes."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import slow_runs

SCRIPT = Path(slow_runs.__file__)


def start_and_kill(what: str, folder: Path, seconds: float) -> bool:
    """Run until ``seconds`` after the start of the work, then kill; say whether it was still running."""
    command = [sys.executable, str(SCRIPT), what, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        running = process.poll() is None
        process.kill()
    return running


@pytest.mark.parametrize(("what", "least_seconds"), [("collect", 0.25), ("evaluate", 0.12)])
def test_killed_and_started_again(what: str, least_seconds: float, tmp_path: Path) -> None:
    expected = slow_runs.RUNS[what](tmp_path / "whole")
    killed = [start_and_kill(what, tmp_path / "killed", random.uniform(0, least_seconds)) for _ in range(2)]
    assert any(killed)
    assert slow_runs.RUNS[what](tmp_path / "killed") == expected
