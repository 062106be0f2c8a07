"""Comparison tables as Markdown."""

from evidencegym.eval.comparison import compare
from evidencegym.eval.table import markdown
from tests.eval.small_results import result

LEARNED = [result(0, 1.0, 2, 1.0), result(1, 0.5, 3, 0.5), result(2, 1.0, 4), result(3, 0.0, 1, prompt_tokens=900)]
BASELINE = [result(number, 0.5, 4, 0.5) for number in range(4)]


def test_a_table_in_markdown() -> None:
    lines = markdown(compare("small", {"learned": LEARNED, "base": BASELINE}, "learned")).splitlines()
    assert lines[0] == "small (4 questions; 95 % bootstrap intervals)"
    head = "| method | support recall | all support | F1 | EM | documents | retrievals | tokens | calls |"
    assert lines[2:4] == [head, "|" + "---|" * 9]
    assert [line.split(" | ")[0] for line in lines[4:6]] == ["| learned", "| base"]
    assert lines[4].startswith("| learned | 0.625 [") and lines[4].endswith(" | 7.50 | 2.50 | 310 | 2.00 |")
    assert lines[7] == "learned minus the others, paired by question"
    assert lines[9:11] == ["| method | support recall | all support | F1 | EM |", "|" + "---|" * 5]
    assert lines[11].startswith("| base | +0.125 [")
    assert len({line.count("|") for line in lines[2:6]}) == 1 and len(lines) == 12
    alone = markdown(compare("small", {"learned": LEARNED}, "learned"))
    assert "minus" not in alone and alone.endswith("|\n")


def test_failures_are_counted_by_operation() -> None:
    failed = [["sufficiency_check", "timed out"], ["answer", "no JSON"]]
    learned = [{**LEARNED[0], "failures": failed}, {**LEARNED[1], "failures": failed[:1]}, *LEARNED[2:]]
    comparison = compare("small", {"learned": learned, "base": BASELINE}, "learned")
    assert comparison.as_dict()["failures"] == {"learned": {"answer": 1, "sufficiency_check": 2}}
    head = ["", "Failures, in all", "", "| method | answer | sufficiency_check |", "|---|---|---|"]
    assert markdown(comparison).splitlines()[-7:] == [*head, "| learned | 1 | 2 |", "| base | 0 | 0 |"]
    assert "failures" not in compare("small", {"learned": LEARNED}, "learned").as_dict()
