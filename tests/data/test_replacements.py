"""Entities by kind."""

import pytest

from evidencegym.data.records import Passage
from evidencegym.data.replacements import Replacements, kind_of

TOWNS = [
    Passage.of("Ada Crewe", ["Ada Crewe was born in Kelmar in 1961.", "She met Jon Sand on 3 May 1980."]),
    Passage.of("Jon Sand", ["Jon Sand grew up in Velby.", "He had 212 maps in 1974."]),
]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("1961", "year"),
        ("212", "number"),
        ("1,200.5", "number"),
        ("3 May 1980", "date"),
        ("May", "name of 1"),
        ("Kelmar on 3 May 1980", "name of 3"),
        ("Kelmar", "name of 1"),
        ("Ada Crewe", "name of 2"),
        ("Bank of the North", "name of 3"),
        ("", "name of 0"),
    ],
)
def test_form_says_which_kind_a_name_is(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_another_name_of_the_kind_is_found() -> None:
    names = Replacements(TOWNS)
    assert names.other("1961", "in 1961", "a") == "1974"
    assert names.other("Ada Crewe", "", "a") == "Jon Sand"
    assert {names.other("Kelmar", "", str(key)) for key in range(20)} == {"Velby"}


def test_names_in_the_text_are_not_taken() -> None:
    names = Replacements(TOWNS)
    assert names.other("Kelmar", "Was it VELBY?", "a") == ""
    assert names.other("3 May 1980", "", "a") == ""


def test_the_choice_follows_from_the_key_and_not_from_the_order_of_the_corpus() -> None:
    passages = [Passage.of(name, [f"{name} is a town."]) for name in ("Arnby", "Brolund", "Corfe", "Dunmore", "Esk")]
    found = [Replacements(order).other("Kelmar", "", "x") for order in (passages, passages[::-1])]
    assert found[0] == found[1] != ""
    assert len({Replacements(passages).other("Kelmar", "", str(key)) for key in range(40)}) == 5
