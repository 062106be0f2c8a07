"""What is read from a question: its form, the sides of a choice, its words."""

import pytest

from evidencegym.generation.lexicon import stem, stem_id
from evidencegym.generation.question import (
    CHOICE,
    COUNT,
    DATE,
    NATION,
    OTHER,
    PERSON,
    PLACE,
    YEAR,
    YES_NO,
    choice_sides,
    read_question,
)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Who wrote the novel?", PERSON),
        ("What actress starred in Gigantic?", PERSON),
        ("When did the director of the film die?", DATE),
        ("What is the date of birth of the composer?", DATE),
        ("In what year was the club founded?", YEAR),
        ("Where was the wife of Paul Reed born?", PLACE),
        ("What is the place of birth of Ann Lee's father?", PLACE),
        ("Which county is Reed in?", PLACE),
        ("How many rooms does the house have?", COUNT),
        ("What nationality is the singer?", NATION),
        ("Why did the singer leave?", OTHER),
        ("Are Ann Lee and Paul Reed of the same nationality?", YES_NO),
        ("The director has a prize. Does Paul Reed have one too?", YES_NO),
        ("Yukio Mori and Roberto Bravo, are Chilean?", YES_NO),
        ("Who is older, Ann Lee or Paul Reed?", CHOICE),
        ("", OTHER),
        ("?", OTHER),
    ],
)
def test_the_form_of_a_question(question: str, form: int) -> None:
    assert read_question(question).form == form


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Who is older, Ann Lee or Paul Reed?", ("Ann Lee", "Paul Reed")),
        (
            "Which film came out first, Lola (1981 Film) or One Minute To Play?",
            ("Lola (1981 Film)", "One Minute To Play"),
        ),
        ("Was Pepper Lane or Rob Parr born first?", ("Pepper Lane", "Rob Parr")),
        (
            "Did the Battle of Pusan or the Battle of Lake Erie happen first?",
            ("Battle of Pusan", "the Battle of Lake Erie"),
        ),
        ("Who was born first out of Nick Gale and Karl Reis?", ("Nick Gale", "Karl Reis")),
        ("Which is older, the film Red Dust or the film Blue Dust?", ("Red Dust", "Blue Dust")),
        ("Who shot the film in or around Leland?", ()),
        ("Who wrote it?", ()),
    ],
)
def test_the_sides_of_a_choice(question: str, sides: tuple[str, ...]) -> None:
    assert choice_sides(question) == sides


def test_words_of_one_relation_share_a_stem() -> None:
    assert len({stem(w) for w in ("directed", "director", "directs")}) == 1
    assert stem("wife") == stem("husband") == stem("spouse")
    assert stem("director's") == stem("director")
    assert stem_id("the") == 0


def test_names_and_relations_are_told_apart() -> None:
    reading = read_question("Who directed The Quiet Harbour?")
    assert stem_id("directed") in reading.relation
    assert {stem_id("quiet"), stem_id("harbour")} <= reading.entity
    assert not reading.relation & reading.entity
