"""Reading responses: whatever a wiki sends, it is read or refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.errors import DataError
from evidencegym.data.fields import Raw
from evidencegym.retrieval.mediawiki_pages import Page, read_links, read_page, read_results, read_titles

FIELDS = ["query", "pages", "normalized", "redirects", "from", "to", "title", "ns", "missing", "extract"]
FIELDS += ["pageprops", "disambiguation", "links", "search"]
LEAVES = st.none() | st.booleans() | st.integers(-1, 1) | st.text(max_size=3) | st.sampled_from(["A", "B"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=30,
)
STEPS = st.lists(st.fixed_dictionaries({"from": st.sampled_from("ABC"), "to": st.sampled_from("ABC")}), max_size=4)
PAGES = st.lists(
    st.fixed_dictionaries({"title": st.sampled_from("ABC"), "ns": st.integers(0, 1), "extract": st.text(max_size=9)}),
    max_size=3,
)


@given(JSON)
def test_any_response_is_read_or_refused(body: Any) -> None:
    response: Raw = {"query": body}
    for read in (read_links, read_results, _titles, _page):
        try:
            read(response)
        except DataError as error:
            assert str(error)


@given(STEPS, STEPS, PAGES)
def test_chains_of_titles_end_at_pages(normalized: Any, redirects: Any, pages: Any) -> None:
    response = {"query": {"normalized": normalized, "redirects": redirects, "pages": pages}}
    known = {page["title"] for page in pages if page["ns"] == 0}
    asked = {step["from"] for step in (*normalized, *redirects)} | known
    assert set(_titles(response)) <= asked
    page = _page(response)
    assert page is None or page.title in known


def _titles(response: Raw) -> dict[str, bool]:
    return read_titles(response, (0,))


def _page(response: Raw) -> Page | None:
    return read_page(response, (0,), 100)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], {"Z": False}),
        ([("a", "A"), ("A", "Z")], {"a": False, "A": False, "Z": False}),
        ([("A", "B"), ("B", "A"), ("C", "Z")], {"C": False, "Z": False}),
        ([("A", "A")], {"Z": False}),
        ([("A", "gone")], {"Z": False}),
    ],
)
def test_redirects_are_followed_unless_they_loop(steps: list[tuple[str, str]], expected: dict[str, bool]) -> None:
    redirects = [{"from": start, "to": end} for start, end in steps]
    pages = [{"ns": 0, "title": "Z"}, {"ns": 0, "title": "gone", "missing": True}, {"title": "[", "invalid": True}]
    assert _titles({"query": {"redirects": redirects, "pages": pages}}) == expected


def test_a_disambiguation_is_one_by_its_property() -> None:
    pages = [{"ns": 0, "title": "Z", "extract": "", "pageprops": {"disambiguation": ""}}]
    assert _titles({"query": {"pages": pages}}) == {"Z": True}
    assert _page({"query": {"pages": pages}}) == Page("Z", "", True)


@pytest.mark.parametrize(("limit", "expected"), [(3, "one"), (6, "one"), (7, "one"), (8, "one two"), (99, "one two")])
def test_a_text_is_cut_between_words(limit: int, expected: str) -> None:
    page = read_page({"query": {"pages": [{"ns": 0, "title": "Z", "extract": "one two "}]}}, (0,), limit)
    assert page is not None
    assert page.text.rstrip() == expected
