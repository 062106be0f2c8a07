"""The page of a report in a real browser; skipped where there is none."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from evidencegym.eval.report import write_report

from .small_report import HOSTILE, episode, write_benchmark, write_method

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture(scope="module")
def chromium() -> str:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser on the path ({', '.join(NAMES)})")
    return found


def sandbox() -> list[str]:
    """Chromium refuses its sandbox to the superuser."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def shown(chromium: str, page: Path, profile: Path, hash_: str = "") -> str:
    """Return the document after its script has run."""
    flags = ["--headless", *sandbox(), "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=5000"]
    command = [chromium, *flags, "--dump-dom", f"{page.as_uri()}{hash_}"]
    return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode("utf-8")


def deep_link(*parts: str) -> str:
    return "#episode/" + "/".join(quote(part, safe="") for part in parts)


@pytest.mark.parametrize("plain", [False, True])
def test_a_link_opens_its_episode(tmp_path: Path, chromium: str, plain: bool) -> None:
    write_report(write_benchmark(tmp_path / "in"), tmp_path / "r.html", plain)
    text = shown(chromium, tmp_path / "r.html", tmp_path / "profile", deep_link("hotpotqa", "free", "fixed-1", "q2"))
    article = re.sub(r"<[^>]+>", " ", text[text.index("<article") : text.index("</article>")])
    article = " ".join(article.split())
    for part in (
        "Question 2? hotpotqa · free · fixed-1",
        "answer Answer 2",
        "gold Gold",
        "✗ not all support found (0.50)",
        "Step 1: retrieve_more searched query 2",
        "Title 2 ✓ support Other",
        "retrieve_more ● ran 0.750 rewrite_query ⊘ vetoed 0.250 stop_answer – masked",
    ):
        assert part in article
    assert "3 of 3 episodes" in text


@pytest.mark.parametrize("policy", [True, False])
def test_hostile_texts_run_nothing_even_without_the_policy(tmp_path: Path, chromium: str, policy: bool) -> None:
    write_report(write_benchmark(tmp_path / "in", HOSTILE), tmp_path / "r.html", plain=True)
    if not policy:
        content = (tmp_path / "r.html").read_text(encoding="utf-8")
        bare = re.sub(r"<meta http-equiv[^>]+>", "", content)
        assert bare != content
        (tmp_path / "r.html").write_text(bare, encoding="utf-8")
    link = deep_link("hotpotqa", "free", "learned", f"q1{HOSTILE}")
    text = shown(chromium, tmp_path / "r.html", tmp_path / "profile", link)
    assert "<title>Evidence control: results</title>" in text
    assert "<img" not in text and text.count("<script") == 5
    article = text[text.index("<article") : text.index("</article>")]
    assert "&lt;img src=x onerror=" in article and "Question 1?&lt;/script&gt;&lt;script&gt;" in article
    assert "⟨U+202E⟩evil⟨U+2066⟩⟨U+0000⟩⟨U+2028⟩⟨U+2029⟩" in article


@pytest.fixture
def browser(chromium: str) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="clicking needs playwright")
    with playwright.sync_playwright() as run:
        started = run.chromium.launch(executable_path=chromium, args=sandbox())
        yield started
        started.close()


def test_filters_search_order_and_pages(tmp_path: Path, browser: Any) -> None:
    place = tmp_path / "in" / "musique"
    write_method(place, "free", "learned", [episode(n, n % 2 * 1.0, (n % 3) / 2) for n in range(60)])
    write_method(place, "equal", "learned", [episode(n) for n in range(8)])
    write_report(tmp_path / "in", tmp_path / "r.html")
    page = browser.new_page()
    refused: list[str] = []
    page.on("pageerror", lambda error: refused.append(str(error)))
    page.on("console", lambda message: refused.append(message.text))
    page.goto((tmp_path / "r.html").as_uri())
    page.wait_for_selector("#list li")
    count = page.locator("#status")
    assert count.text_content() == "60 of 60 episodes" and page.locator("#list li").count() == 25
    page.click("#next")
    page.click("#next")
    assert page.text_content("#page") == "page 3 of 3" and page.locator("#list li").count() == 10
    page.select_option("#choose-support", "all")
    assert count.text_content() == "30 of 60 episodes"
    page.select_option("#choose-f1", "right")
    assert count.text_content() == "10 of 60 episodes"
    page.fill("#choose-search", "question 5?")
    page.wait_for_selector("#status:has-text('1 of 60')")
    page.click("#list a")
    assert page.text_content("#episode-title") == "Question 5?" and page.url.endswith(
        "#episode/musique/free/learned/q5"
    )
    page.click("#episode summary")
    page.click("#episode details a")
    page.wait_for_selector("#episode .facts:has-text('musique · equal · learned')")
    assert page.input_value("#choose-protocol") == "equal" and count.text_content() == "1 of 8 episodes"
    page.go_back()
    page.wait_for_selector("#episode .facts:has-text('musique · free · learned')")
    page.goto((tmp_path / "r.html").as_uri() + deep_link("musique", "free", "learned", "absent"))
    page.wait_for_selector("#status:has-text('names a question that is not in this report')")
    assert refused == []
