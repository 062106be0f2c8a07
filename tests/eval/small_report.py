"""Folders of results made by hand, for tests of reports."""

import json
from pathlib import Path
from typing import Any

HOSTILE = (
    "</script><script>document.title='owned';alert(1)</script><img src=x onerror=\"document.title='owned'\">"
    "\u202eevil\u2066\x00\u2028\u2029|`[a](javascript:alert(1))&lt;"
)


def episode(number: int, recall: float = 1.0, f1: float = 1.0, text: str = "", **parts: Any) -> dict[str, Any]:
    """Return a result of two steps, a search and a stop; ``text`` goes into every field that holds text."""
    passages = [[f"p{number}{text}", f"Title {number}{text}"], [f"r{number}", "Other"]]
    search = {
        "operation": "retrieve_more",
        "valid": ["retrieve_more", "rewrite_query"],
        "values": {"retrieve_more": 0.75, "rewrite_query": 0.25},
        "vetoed": ["rewrite_query"],
        "query": f"query {number}{text}",
        "brought": passages,
        "verdict": None,
        "sufficiency": 0.0,
        "gap": text,
        "cost": {"retrievals": 1},
    }
    stop = {**search, "operation": "stop_answer", "valid": ["stop_answer"], "values": {}, "vetoed": [], "query": ""}
    cost = {"prompt_tokens": 100 + number, "completion_tokens": 10, "generator_calls": 2, "retrievals": 1}
    return {
        "uid": f"q{number}{text}",
        "id": f"id{number}",
        "question": f"Question {number}?{text}",
        "answer": f"Answer {number}{text}",
        "support": [[f"Title {number}{text}", 0]],
        "end": "stop",
        "operations": ["retrieve_more", "stop_answer"],
        "passages": passages,
        "cost": cost,
        "ledger": {},
        "steps": [search, {**stop, "brought": [], "cost": {}}],
        "gold": {"answers": [f"Gold{text}"], "type": f"bridge{text}", "hops": 2, "support": [f"Title {number}{text}"]},
        "metrics": {
            "support_recall": recall,
            "full_support": float(recall == 1),
            "context_support_recall": recall,
            "answer_f1": f1,
            "answer_em": float(f1 == 1),
        },
        **parts,
    }


def write_method(place: Path, protocol: str, method: str, episodes: list[dict[str, Any]]) -> Path:
    """Write the results of one method."""
    file = place / protocol / f"{method}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one, sort_keys=True) + "\n" for one in episodes), encoding="utf-8")
    return file


def analysis(**parts: Any) -> dict[str, Any]:
    """Return an analysis as its file holds it."""
    return {
        "name": "frontier",
        "title": "Recall against tokens",
        "asks": "What does a token buy?",
        "columns": [{"key": "method", "label": "method"}, {"key": "tokens", "label": "tokens"}],
        "rows": [
            {"method": name, "tokens": 100 * k, "recall": 0.5 + 0.1 * k, "low": 0.4, "high": 0.9}
            for name in ("learned", "fixed")
            for k in (1, 2, 3)
        ],
        "plot": {"x": "tokens", "y": "recall", "series": "method", "low": "low", "high": "high"},
        "settings": {"seed": 0},
        **parts,
    }


def write_benchmark(folder: Path, text: str = "") -> Path:
    """Write a benchmark of one data set: two methods, three questions, one analysis; returns its folder."""
    place = folder / "hotpotqa"
    write_method(place, "free", "learned", [episode(n, text=text) for n in range(3)])
    write_method(place, "free", "fixed-1", [episode(n, 0.5, n / 2, text=text) for n in range(3)])
    rows = [{"feature": f"hops{text}", "value": 0.25}, {"feature": "b", "value": -0.1}]
    columns = [{"key": "feature", "label": f"feature{text}"}, {"key": "value", "label": f"value{text}"}]
    plot = {"x": "value", "y": "feature", "series": None, "low": None, "high": None}
    importance = {"name": "importance", "title": f"Importance{text}", "asks": text, "columns": columns}
    (place / "analysis").mkdir()
    for content in (analysis(), {**importance, "rows": rows, "plot": plot, "settings": {f"seed{text}": text}}):
        file = place / "analysis" / f"{content['name']}.json"
        file.write_text(json.dumps(content), encoding="utf-8")
    (place / "manifest.json").write_text(
        json.dumps({"seed": 3, f"rules{text}": {"steps": [4, text]}}), encoding="utf-8"
    )
    return folder
