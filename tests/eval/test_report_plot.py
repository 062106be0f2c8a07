"""Plots of a report: placed right, told apart, described."""

import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from evidencegym.eval.analysis import Analysis, Plot
from evidencegym.eval.report_analysis import read_analysis
from evidencegym.eval.report_plot import MOST_NAMES, figure
from evidencegym.eval.report_scale import scale

from .small_report import HOSTILE, analysis


def parsed(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawn)


def named(rows: list[dict[str, Any]], **plot: str) -> Analysis:
    return Analysis("a", "Title", "", (("name", "name"), ("value", "the value")), rows, Plot(**{"series": "", **plot}))


def marks(element: ElementTree.Element) -> dict[str, tuple[float, float]]:
    found = {}
    for path in element.findall("./svg//path[@class='mark']"):
        x, y = re.findall(r"-?[\d.]+", path.get("transform", ""))
        found[(path.findtext("title") or "").split(":")[0]] = (float(x), float(y))
    return found


def test_lines_rise_with_their_values(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(analysis()), encoding="utf-8")
    element = parsed(figure(read_analysis(file), "f"))
    places = marks(element)
    xs, ys = zip(*(places[f"learned, {k}"] for k in (100, 200, 300)))
    assert list(xs) == sorted(xs) and list(ys) == sorted(ys, reverse=True)
    assert [item.text or "".join(item.itertext()) for item in element.iter("li")] == ["learned", "fixed"]
    assert len(element.findall(".//polyline")) == 2 and len(element.findall(".//path[@class='bar']")) == 6


def test_names_are_drawn_on_whichever_axis_they_are_given() -> None:
    rows = [{"name": "a", "value": 0.25}, {"name": "b", "value": -0.5}, {"name": "c", "value": None}]
    upright, turned = (figure(named(rows, x=x, y=y), "f") for x, y in (("name", "value"), ("value", "name")))
    assert upright == turned
    places = marks(parsed(upright))
    assert places.keys() == {"a", "b"} and places["b"][0] < places["a"][0] and places["a"][1] < places["b"][1]


def test_a_plot_has_title_and_description_that_it_names() -> None:
    element = parsed(figure(named([{"name": "a", "value": 1.0}], x="name", y="value"), "f7"))
    svg = element.find("svg")
    assert svg is not None and svg.get("role") == "img" and svg.get("aria-labelledby") == "f7-t f7-d"
    assert svg.findtext("title") == "Title" and svg.findtext("desc") == "the value by name. a: 1."


def test_of_many_names_the_largest_are_drawn() -> None:
    rows = [{"name": f"n{k}", "value": (-1) ** k * k / 10} for k in range(40)]
    element = parsed(figure(named(rows, x="name", y="value"), "f"))
    assert set(marks(element)) == {f"n{k}" for k in range(40 - MOST_NAMES, 40)}
    assert f"The {MOST_NAMES} largest; the table has {40 - MOST_NAMES} more." in "".join(element.itertext())


def test_a_series_that_repeats_the_names_tells_nothing_more() -> None:
    rows = [{"name": "a", "value": 0.25}, {"name": "b", "value": 0.5}]
    assert figure(named(rows, x="name", y="value", series="name"), "f") == figure(named(rows, x="name", y="value"), "f")


def test_many_series_differ_in_colour_or_mark() -> None:
    rows = [{"name": f"m{k}", "x": k, "value": k} for k in range(20)]
    drawn = figure(Analysis("a", "t", "", (), rows, Plot("x", "value", "name")), "f")
    keys = re.findall(r'<g class="(s\d)(?: again)?"><path class="mark" d="([^"]+)"', drawn)
    assert len(keys) == 20 == len(set(keys))


def test_nothing_is_drawn_of_nothing() -> None:
    assert figure(named([], x="name", y="value"), "f") == ""
    assert figure(named([{"name": "a", "value": math.inf}], x="name", y="value"), "f") == ""
    assert figure(Analysis("a", "t", "", (), [{"x": 1}]), "f") == ""


def test_hostile_names_stay_text() -> None:
    element = parsed(figure(named([{"name": HOSTILE, "value": 1.0}], x="name", y="value"), "f"))
    assert {child.tag for child in element.iter()} <= {
        "figure",
        "svg",
        "title",
        "desc",
        "path",
        "text",
        "g",
        "figcaption",
    }


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda v: round(v, 6)), min_size=1, max_size=9))
def test_a_scale_holds_all_values_between_its_ends(values: list[float]) -> None:
    found = scale(values, 10, 110)
    slack = 1e-6 * (found.high - found.low)
    assert found.low - slack <= min(values) and max(values) <= found.high + slack
    assert 2 <= len(found.ticks) <= 9 and list(found.ticks) == sorted(set(found.ticks))
    assert found.at(found.low) == 10 and found.at(found.high) == 110
