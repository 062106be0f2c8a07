"""The code of the page on reinforcement learning runs, block after block."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "rl.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

pytestmark = pytest.mark.filterwarnings("ignore:.*is None:UserWarning", "ignore:.*is set to None:UserWarning")


def needed(block: str) -> list[str]:
    """Return the optional packages that a block names in its first line."""
    found = re.match(r"# needs: (.*)\n", block)
    return found.group(1).split(", ") if found else []


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the blocks have defined so far."""
    return {"__name__": "__main__"}


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_blocks_run(
    number: int,
    names: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    block = BLOCKS[number]
    if absent := [name for name in needed(block) if importlib.util.find_spec(name) is None]:
        pytest.skip(f"needs the extra that brings {', '.join(absent)}")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    exec(compile(block, f"docs/rl.md block {number}", "exec"), names)
    assert capsys.readouterr().out or "print(" not in block


def test_blocks_without_extras_come_first_so_that_skipping_breaks_none() -> None:
    extras = [bool(needed(block)) for block in BLOCKS]
    assert extras == sorted(extras) and len(BLOCKS) == 7
