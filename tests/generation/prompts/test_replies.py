"""Parsers: what they take, and that they take nothing else."""

import json
from collections.abc import Callable
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.records import Passage
from evidencegym.generation.prompts import answer, compress, judge, rewrite
from evidencegym.generation.prompts.errors import ParseError
from evidencegym.generation.prompts.judge import Token, verdict_probability
from evidencegym.generation.tasks import Answer, AnswerTask, CompressTask, Judgement, JudgeTask, RewriteTask, Snippet

FILM = Passage.of("The Quiet Harbour", ["It is a film by Marta Leone.", "", "It won a prize."])
LEONE = Passage.of("", ["She was born in Bergamo."])
ANSWER, JUDGE = AnswerTask("q", (FILM,)), JudgeTask("q", (FILM,))
CHOOSE, FACTS = CompressTask("q", (FILM, LEONE)), CompressTask("q", (FILM, LEONE), 12, 384)
PARSERS: list[tuple[Callable[[str, Any], Any], Any]] = [
    (answer.parse, ANSWER),
    (judge.parse, JUDGE),
    (rewrite.parse, RewriteTask("q", (FILM,))),
    (compress.parse, CHOOSE),
    (compress.parse, FACTS),
]

NOT_ONE_OBJECT = [
    "",
    " \n",
    "null",
    "[]",
    '"yes"',
    "true",
    "{",
    "{}{}",
    "[" * 100_000,
    '{"a": ' * 5_000,
    "9" * 10_000,
    "I think that the evidence is sufficient.",
]


@pytest.mark.parametrize("text", NOT_ONE_OBJECT)
def test_anything_but_one_object_is_an_error_of_one_short_line(text: str) -> None:
    for parse, task in PARSERS:
        with pytest.raises(ParseError) as error:
            parse(text, task)
        assert len(str(error.value)) < 400 and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "a"} indeed',
        'Sure: {"answer": "a"}',
        '{"answer": "a"}{"answer": "b"}',
        '{"answer": "a", "answer": "b"}',
        '{"answer": "a", "why": "b"}',
        '{"Answer": "a"}',
        '{"answer": 3}',
        '{"answer": NaN}',
        '{"answer": null}',
        '{"answer": ["a"]}',
        '{"answer": "a"',
        "{'answer': 'a'}",
        json.dumps({"answer": "word " * 480}),
    ],
)
def test_an_answer_must_have_its_form(text: str) -> None:
    with pytest.raises(ParseError):
        answer.parse(text, ANSWER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"answer": "4 May 1931"}', "4 May 1931"),
        (' {"answer":\n"a  b\\n c"}\n', "a b c"),
        ('```json\n{"answer": "a"}\n```', "a"),
        ('```\n{"answer": ""}\n```', ""),
        ('{"answer": "\\ud800"}', "?"),
        (json.dumps({"answer": "x" * 192}), "x" * 192),
    ],
)
def test_an_answer_is_taken_on_one_line(text: str, expected: str) -> None:
    assert answer.parse(text, ANSWER) == Answer(expected)


def test_a_verdict_is_true_or_false_and_says_what_is_missing() -> None:
    assert judge.parse('{"sufficient": true, "missing": ""}', JUDGE) == Judgement(True, "", 1.0)
    assert judge.parse('{"sufficient": true, "missing": "x"}', JUDGE) == Judgement(True, "", 1.0)
    assert judge.parse('{"missing": "the year", "sufficient": false}', JUDGE) == Judgement(False, "the year", 0.0)


@pytest.mark.parametrize(
    "text",
    [
        '{"sufficient": false, "missing": " "}',
        '{"sufficient": "true", "missing": ""}',
        '{"sufficient": 1, "missing": ""}',
        '{"sufficient": true}',
        '{"sufficient": false, "missing": null}',
        json.dumps({"sufficient": False, "missing": "x " * 640}),
        'The passage says {"sufficient": true, "missing": ""}',
    ],
)
def test_a_verdict_of_another_form_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        judge.parse(text, JUDGE)


def test_a_query_that_was_asked_is_none() -> None:
    task = RewriteTask("q", (FILM,), ("who is it",))
    assert rewrite.parse('{"query": "Marta  Leone born"}', task).query == "Marta Leone born"
    assert rewrite.parse('{"query": "who is it"}', task).query == ""
    assert rewrite.parse('{"query": ""}', task).query == ""
    with pytest.raises(ParseError, match="at most 64 tokens"):
        rewrite.parse(json.dumps({"query": "x " * 640}), task)


def chosen(*pairs: tuple[int, int]) -> str:
    return json.dumps({"snippets": [{"passage": p, "sentence": s} for p, s in pairs]})


def test_sentences_are_taken_word_for_word_in_their_order() -> None:
    found = compress.parse(chosen((2, 1), (1, 3), (2, 1)), CHOOSE).snippets
    assert found == (
        Snippet(FILM.id, "The Quiet Harbour: It won a prize.", 2),
        Snippet(LEONE.id, "She was born in Bergamo.", 0),
    )
    assert compress.parse(chosen(), CHOOSE).snippets == ()


@pytest.mark.parametrize("pair", [(0, 1), (3, 1), (1, 2), (1, 4), (1, 0), (-1, 1), (10**400, 1)])
def test_a_sentence_that_was_not_shown_is_an_error(pair: tuple[int, int]) -> None:
    with pytest.raises(ParseError):
        compress.parse(chosen(pair), CHOOSE)


def test_the_limits_drop_what_was_named_last() -> None:
    long = Passage.of("", [f"{i} " + "x" * 98 for i in range(20)])
    ten = chosen(*((1, i) for i in range(20, 10, -1)))
    kept = compress.parse(ten, CompressTask("q", (long,), 8, 256)).snippets
    assert [s.sentence for s in kept] == list(range(12, 20))
    assert [s.sentence for s in compress.parse(ten, CompressTask("q", (long,), 8, 60)).snippets] == [18, 19]


def test_facts_come_with_the_passage_that_states_them() -> None:
    text = json.dumps({"facts": [{"passage": 2, "fact": "Leone | born in |\n Bergamo"}, {"passage": 1, "fact": "a"}]})
    assert compress.parse(text, FACTS).snippets == (
        Snippet(FILM.id, "a"),
        Snippet(LEONE.id, "Leone | born in | Bergamo"),
    )
    for bad in ({"passage": 3, "fact": "a"}, {"passage": 1, "fact": ""}, {"passage": True, "fact": "a"}, "a"):
        with pytest.raises(ParseError):
            compress.parse(json.dumps({"facts": [bad]}), FACTS)
    with pytest.raises(ParseError):
        compress.parse(chosen((1, 1)), FACTS)


def tokens(*alternatives: dict[str, float]) -> list[Token]:
    return [Token(next(iter(a)), {text: log(p) for text, p in a.items()}) for a in alternatives]


def test_the_probability_is_that_of_the_verdicts_token() -> None:
    head = tokens({'{"': 1.0}, {"sufficient": 1.0}, {'":': 1.0})
    given_both = [*head, *tokens({" true": 0.6, " false": 0.2, " maybe": 0.1}), *tokens({",": 1.0}, {"false": 1.0})]
    assert verdict_probability(given_both) == pytest.approx(0.75)
    assert verdict_probability([*head, *tokens({" false": 0.9, "False": 0.05})]) == pytest.approx(0.05)
    assert verdict_probability([*head, *tokens({" tr": 0.7}), *tokens({"ue": 1.0})]) == pytest.approx(0.7)
    assert verdict_probability(head) is None and verdict_probability([]) is None
    assert verdict_probability(tokens({"true": 1.0})) is None
    merged = tokens({'{"sufficient"': 1.0}, {": true": 0.5, ": false": 0.5})
    assert verdict_probability(merged) == pytest.approx(0.5)


@given(st.lists(st.tuples(st.text(max_size=8), st.floats(allow_nan=False))), st.booleans())
def test_a_probability_is_one_whatever_the_server_says(pairs: list[tuple[str, float]], verdict: bool) -> None:
    said = [Token('{"sufficient":', {}), Token("true" if verdict else "false", dict(pairs))]
    found = verdict_probability(said)
    assert found is None or 0.0 <= found <= 1.0


@given(st.text())
def test_no_text_brings_a_parser_down(text: str) -> None:
    for parse, task in PARSERS:
        for whole in (text, json.dumps({"answer": text}), json.dumps({"sufficient": text}), f'{{"facts": [{text}]}}'):
            try:
                parse(whole, task)
            except ParseError as error:
                str(error).encode("utf-8")
