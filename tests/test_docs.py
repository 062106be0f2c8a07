"""The docs name what there is."""

import re
from pathlib import Path

import pytest

from evidencegym.actions.operation_set import PRESETS
from evidencegym.envs.features import FeatureMap

DOCS = Path(__file__).parents[1] / "docs"


def test_every_feature_is_documented_with_its_range() -> None:
    text = (DOCS / "features.md").read_text(encoding="utf-8")
    rows = [f"| `{f.name}` | {f.low:g} to {f.high:g} | {f.meaning} |" for f in FeatureMap(PRESETS["paper"]).features]
    assert [row for row in rows if row not in text] == []
    assert text.count("\n| `") == len(rows)


def test_every_operation_is_documented_under_its_id() -> None:
    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    assert all(f"| {number} | `{name}` |" in text for number, name in enumerate(PRESETS["paper"]))


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")) if not t.startswith("http")]
    assert [t for t in targets if not (page.parent / t).exists()] == []
