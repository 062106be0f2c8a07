"""The tables that a report makes of results."""

import pytest

from evidencegym.eval.comparison import compare
from evidencegym.eval.report_comparison import MethodResults, comparison_tables, matched_table, operation_tables
from evidencegym.eval.report_markdown import escaped, markdown_table
from evidencegym.eval.report_text import inert

from .small_report import HOSTILE, episode


def method(*episodes: dict[str, object]) -> MethodResults:
    results = MethodResults()
    for one in episodes:
        results.add(one)
    return results


def test_means_and_differences_are_those_of_a_comparison() -> None:
    learned, fixed = [episode(n) for n in range(5)], [episode(n, 0.5, n / 4) for n in range(5)]
    found = compare("free", {"fixed-1": fixed, "learned": learned}, "learned", seed=3)
    tables = {
        one.name: one for one in comparison_tables("free", {"fixed-1": method(*fixed), "learned": method(*learned)}, 3)
    }
    f1 = found.means["fixed-1"]["answer_f1"]
    assert tables["means"].rows[0]["answer_f1"] == f"{f1.mean:.3f} [{f1.low:.3f}, {f1.high:.3f}]"
    paired = found.differences["fixed-1"]["answer_f1"]
    expected = f"{paired.mean:+.3f} [{paired.low:+.3f}, {paired.high:+.3f}]"
    assert tables["differences"].rows[0]["answer_f1"] == expected
    assert tables["differences"].rows[0]["difference in support recall"] == 0.5
    assert "cost" not in tables  # all methods cost the same


def test_methods_are_compared_over_the_questions_that_all_hold() -> None:
    learned = method(*(episode(n, n / 4) for n in range(5)))
    tables = comparison_tables("free", {"learned": learned, "fixed-1": method(episode(4, 0.25), episode(1, 0.5))})
    assert "2 questions; 3 that not every method holds are left out" in tables[0].asks
    rows = {row["method"]: row["support recall"] for row in tables[0].rows}
    assert rows == {"learned": pytest.approx(0.625), "fixed-1": pytest.approx(0.375)}


def test_results_without_gold_make_no_comparison() -> None:
    bare = {key: value for key, value in episode(0).items() if key not in ("gold", "metrics")}
    assert comparison_tables("free", {"learned": method(bare)}) == []


def test_the_cost_that_tells_the_methods_apart_is_drawn() -> None:
    dear = episode(0, cost={**episode(0)["cost"], "prompt_tokens": 900})
    table = comparison_tables("free", {"a": method(dear), "b": method(episode(0))})[-1]
    assert table.plot is not None and table.plot.x == "tokens"
    assert [row["tokens"] for row in table.rows] == [910, 110]


def test_operation_use_counts_runs_and_shares_by_step() -> None:
    two = episode(1)
    two["operations"], two["steps"] = ["retrieve_more"], [{**two["steps"][0], "failure": "timed out"}]
    two["failures"] = [["retrieve_more", "timed out"], ["answer", "timed out"]]
    use, by_step, failures = operation_tables({("free", "learned"): method(episode(0), two)})
    assert use.rows == [
        {"protocol": "free", "method": "learned", "retrieve_more": "1.00", "stop_answer": "0.50", "failed": 2}
    ]
    assert failures.rows == [{"protocol": "free", "method": "learned", "episodes": 2, "answer": 1, "retrieve_more": 1}]
    assert [one.name for one in operation_tables({("free", "learned"): method(episode(0))})] == ["operations", "steps"]
    assert [(row["step"], row["episodes"], row["retrieve_more"], row["stop_answer"]) for row in by_step.rows] == [
        (1, 2, "100", ""),
        (2, 1, "", "100"),
    ]


def test_matched_differences_come_from_the_evaluation() -> None:
    content = {"matched": {"retrievals": 2.1, "support_recall": {"uniform": {"mean": 0.1, "low": 0.0, "high": 0.2}}}}
    (table,) = matched_table(content)
    assert table.rows == [{"baseline": "uniform", "difference": 0.1, "low": 0.0, "high": 0.2}]
    assert matched_table({}) == [] and matched_table([]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.868 [0.848, 0.888]", "0.868 [0.848, 0.888]"),
        ("+0.1 [-0.1, +0.2]", "+0.1 [-0.1, +0.2]"),
        ("retrieve_more", "retrieve_more"),
        ("a|b", "a\\|b"),
        ("[1, 2](http://x)", "\\[1, 2\\](http://x)"),
        ("_a_ *b* `c` <d> &lt;", "\\_a\\_ \\*b\\* \\`c\\` &lt;d&gt; &amp;lt;"),
        ("a\nb\u202ec\x00", "a b⟨U+202E⟩c⟨U+0000⟩"),
    ],
)
def test_markdown_shows_a_text_as_it_is(text: str, expected: str) -> None:
    assert escaped(text) == expected


def test_a_markdown_table_has_a_line_a_row() -> None:
    table = operation_tables({("free", HOSTILE): method(episode(0, text=HOSTILE))})[0]
    lines = markdown_table(table, 4).strip().splitlines()
    assert lines[0] == "#### Runs per question" and len(lines) == 7
    assert "<" not in lines[-1] and lines[-1].replace("\\|", "").count("|") == len(table.columns) + 1


def test_html_text_holds_neither_markup_nor_controls() -> None:
    text = inert(HOSTILE)
    assert not set("<>\"'\u202e\u2066\x00\u2028\u2029") & set(text) and "⟨U+202E⟩evil⟨U+2066⟩⟨U+0000⟩" in text
