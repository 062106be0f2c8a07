"""The page and the tables that a report writes, read without a browser."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from evidencegym.cli import main
from evidencegym.data.errors import ConfigError, DataError
from evidencegym.eval.report import write_report

from .small_report import HOSTILE, episode, write_benchmark, write_method

VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """Elements, attributes, and the content of scripts and styles, as HTML reads them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.style = self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.open[-1:] == ["style"]:
            self.style += data
        else:
            self.text += data

    def island(self, name: str, plain: bool) -> Any:
        content = next(text for attrs, text in self.scripts if attrs.get("id") == name)
        return json.loads(content if plain else gzip.decompress(base64.b64decode(content)))


def report(folder: Path, out: Path, plain: bool = False) -> Page:
    write_report(folder, out, plain)
    return Page(out.read_text(encoding="utf-8"))


@pytest.mark.parametrize("plain", [False, True])
def test_the_page_holds_every_episode(tmp_path: Path, plain: bool) -> None:
    page = report(write_benchmark(tmp_path / "in"), tmp_path / "r.html", plain)
    index = page.island("index", plain=True)
    assert index["plain"] is plain and [one["name"] for one in index["data"]] == ["hotpotqa"]
    shared = page.island(index["data"][0]["shared"], plain)
    episodes = page.island(index["data"][0]["protocols"]["free"]["fixed-1"], plain)
    question, answer, end, metrics, passages, costs, support, steps = episodes[2]
    gold = ["Gold"], ["Title 2"]
    assert shared["questions"][question] == ["q2", "id2", "Question 2?", "bridge", 2, *gold]
    assert (shared["texts"][answer], shared["texts"][end]) == ("Answer 2", "stop")
    assert dict(zip(shared["metrics"], metrics))["answer_f1"] == 1.0 and metrics[0] == 0.5
    assert [shared["passages"][n] for n in passages] == [["p2", "Title 2"], ["r2", "Other"]]
    assert dict(zip(shared["costs"], costs))["prompt_tokens"] == 102
    assert [[shared["texts"][title], sentence] for title, sentence in support] == [["Title 2", 0]]
    ran, valid, values, vetoed, query, brought, verdict, *_ = steps[0]
    names = shared["operations"]
    assert (names[ran], [names[n] for n in valid]) == ("retrieve_more", ["retrieve_more", "rewrite_query"])
    assert (values, [names[n] for n in vetoed], shared["texts"][query]) == ([0.75, 0.25], ["rewrite_query"], "query 2")
    assert brought == passages and verdict is None and steps[1][4] == -1


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_benchmark(tmp_path / "in")
    before = {file: file.read_bytes() for file in folder.rglob("*.*")}
    for name in ("a", "b"):
        write_report(folder, tmp_path / f"{name}.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.md").read_bytes() == (tmp_path / "b.md").read_bytes()
    assert before == {file: file.read_bytes() for file in folder.rglob("*.*")}


def test_the_policy_allows_the_page_s_own_script_and_style_only(tmp_path: Path) -> None:
    page = report(write_benchmark(tmp_path / "in"), tmp_path / "r.html")
    policy = next(value for tag, name, value in page.attributes if tag == "meta" and "default-src" in value)
    (script,) = (text for attrs, text in page.scripts if not attrs)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, page.style)]
    assert policy.startswith(
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; base-uri 'none'; "
    )
    assert "unsafe" not in policy and "http" not in policy
    assert all(attrs.get("type") == "application/json" for attrs, _ in page.scripts if attrs)


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_the_page_names_no_other_place(tmp_path: Path, text: str) -> None:
    page = report(write_benchmark(tmp_path / "in", text), tmp_path / "r.html", plain=True)
    assert {name for _, name, _ in page.attributes} & {"src", "srcset", "action", "data", "style", "poster"} == set()
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    links = [value for _, name, value in page.attributes if name in ("href", "xlink:href")]
    assert links and all(re.fullmatch(r"#[\w-]+", link) for link in links)
    assert not {"img", "link", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    script = next(text for attrs, text in page.scripts if not attrs)
    assert not re.search(r"https?:|//[a-z]|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)


@pytest.mark.parametrize("plain", [False, True])
def test_hostile_texts_change_no_element_of_the_page(tmp_path: Path, plain: bool) -> None:
    tame = report(write_benchmark(tmp_path / "tame", "tame"), tmp_path / "tame.html", plain)
    hostile = report(write_benchmark(tmp_path / "hostile", HOSTILE), tmp_path / "hostile.html", plain)
    assert hostile.tags == tame.tags and hostile.open == tame.open == []
    content = (tmp_path / "hostile.html").read_text(encoding="utf-8")
    assert not set("\x00\u2028\u2029\u202e\u2066") & set(content)
    assert not any(set("<>&") & set(text) for attrs, text in hostile.scripts if attrs)
    index = hostile.island("index", plain=True)
    shared = hostile.island(index["data"][0]["shared"], plain)
    assert shared["questions"][0][2] == f"Question 0?{HOSTILE}" and shared["passages"][0][1] == f"Title 0{HOSTILE}"


def test_tables_plots_and_record_are_on_the_page(tmp_path: Path) -> None:
    page = report(write_benchmark(tmp_path / "in"), tmp_path / "r.html")
    for part in ("Free stopping", "learned minus the others", "Recall against tokens", "Feature importance"):
        assert part in page.text
    assert "What does a token buy?" in page.text and "Made with: seed 0." in page.text
    assert "rules.steps" in page.text and page.tags.count("figure") == 4
    digest = hashlib.sha256((tmp_path / "in/hotpotqa/free/learned.jsonl").read_bytes()).hexdigest()[:16]
    assert digest in page.text and digest in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_labels_and_headings_lead_somewhere(tmp_path: Path) -> None:
    page = report(write_benchmark(tmp_path / "in"), tmp_path / "r.html")
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    named = [part for _, name, value in page.attributes if name == "aria-labelledby" for part in value.split()]
    assert set(named) - {"episode-title"} <= set(ids)
    assert {value[1:] for _, name, value in page.attributes if name == "href"} <= set(ids)


def test_the_command_writes_page_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_benchmark(tmp_path / "in")
    assert main(["report", str(folder), "--out", str(tmp_path / "deep" / "r.html")]) == 0
    assert "6 episodes of hotpotqa" in capsys.readouterr().out
    tables = (tmp_path / "deep" / "r.md").read_text(encoding="utf-8")
    assert "| learned | 1.000 [1.000, 1.000] |" in tables and "| fixed-1 | +0.500 [+0.500, +0.500] |" in tables


def test_a_page_of_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"ends in \.html"):
        write_report(write_benchmark(tmp_path / "in"), tmp_path / "report.md")


def test_a_damaged_step_is_refused_with_its_question(tmp_path: Path) -> None:
    broken = {**episode(0), "steps": [{**episode(0)["steps"][0], "brought": [["only an id"]]}]}
    write_method(tmp_path / "d", "free", "learned", [broken])
    with pytest.raises(DataError, match="the result of q0 is damaged"):
        write_report(tmp_path, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
