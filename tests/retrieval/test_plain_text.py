"""HTML in what should be plain text."""

import pytest

from evidencegym.retrieval.plain_text import plain_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a < b and c > d", "a < b and c > d"),
        ("for i<n and m>0", "for i<n and m>0"),
        ("R&D at AT&T &notin x", "R&D at AT&T &notin x"),
        ("Tom &amp; Jerry &#169; &#xD800;", "Tom & Jerry © \ufffd"),
        ("<p>One <b>bold</b> word.</p><p>Two.</p>", "\nOne bold word.\n\nTwo.\n"),
        ("a<br/>b<BR>c", "a\nb\nc"),
        ("<b>x</b> i<n and m>0", "x i<n and m>0"),
        ('x<script type="a">if (a<b) { steal() }</script>y', "xy"),
        ("x<style>p { color: red }</style>y", "xy"),
        ("x<!-- hidden -->y", "xy"),
        ("<span class='a' onclick='b()'>x</span>", "x"),
        ("half \ud800 pair", "half ? pair"),
        ("", ""),
    ],
)
def test_what_stays_of_it(text: str, expected: str) -> None:
    assert plain_text(text) == expected


def test_many_open_tags_take_no_time() -> None:
    assert plain_text("<b" * 50_000)
    assert plain_text("<script>" * 5_000 + "<p>") == ""
