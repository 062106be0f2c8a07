"""The docs name what there is."""

import re
from pathlib import Path

import pytest

from evidencegym.actions.operation_set import PRESETS
from evidencegym.envs.features import FeatureMap
from evidencegym.ranking.passage_features import PASSAGE_FEATURES
from evidencegym.ranking.proposal_features import PROPOSAL_FEATURES
from evidencegym.ranking.vector_features import VECTOR_FEATURES

DOCS = Path(__file__).parents[1] / "docs"


def test_every_feature_is_documented_with_its_range() -> None:
    text = (DOCS / "features.md").read_text(encoding="utf-8")
    rows = [f"| `{f.name}` | {f.low:g} to {f.high:g} | {f.meaning} |" for f in FeatureMap(PRESETS["paper"]).features]
    assert [row for row in rows if row not in text] == []
    assert text.partition("Operation sets with a")[0].count("\n| `") == len(rows)


def test_the_features_of_a_gate_are_documented_with_their_ranges() -> None:
    text = (DOCS / "features.md").read_text(encoding="utf-8")
    known = set(FeatureMap(PRESETS["paper"]).names)
    features = [f for f in FeatureMap(PRESETS["with_gate"]).features if f.name not in known]
    rows = [f"| `{f.name}` | {f.low:g} to {f.high:g} | {f.meaning} |" for f in features]
    assert len(rows) == 13 and all(text.count(row) == 1 for row in rows)


def test_every_feature_of_a_ranker_is_documented_once() -> None:
    text = (DOCS / "ranker.md").read_text(encoding="utf-8")
    passages, searches = text.split("### Features of a search")
    shared = set(PASSAGE_FEATURES[PASSAGE_FEATURES.index("held") :])
    assert re.findall(r"\n\| `(\w+)` \|", passages) == list(PASSAGE_FEATURES)
    searches, vectors = searches.split("## With an encoder")
    assert re.findall(r"\n\| `(\w+)` \|", searches) == [name for name in PROPOSAL_FEATURES if name not in shared]
    assert re.findall(r"\n\| `(\w+)` \|", vectors) == list(VECTOR_FEATURES)


def test_every_operation_is_documented_under_its_id() -> None:
    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    assert all(f"| {number} | `{name}` |" in text for number, name in enumerate(PRESETS["paper"]))


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")) if not t.startswith("http")]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_the_code_of_the_page_on_rankers_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [block] = re.findall(r"```python\n(.*?)```", (DOCS / "ranker.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(block, "docs/ranker.md", "exec"), {"__name__": "__main__"})
    assert "Proposal(entity=" in capsys.readouterr().out
