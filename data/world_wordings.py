"""How questions about the synthetic world name its relations, mostly in other words than the articles do.

Braces stand for what is asked about; ``{elder}`` is father or mother.
"""

from __future__ import annotations

from .world_asking import Asking
from .world_wordings_places import GROUPS_ASKING, PLACES_ASKING

_OUT = Asking((), ("In what year did {} come out?", "What is the release year of {}?", "When did {} reach the public?"))

PEOPLE_ASKING: dict[str, Asking] = {
    "birth_date": Asking((), ("On what day was {} born?", "What is the date of birth of {}?", "When was {} born?")),
    "birth_year": Asking((), ("In what year was {} born?", "What is the birth year of {}?")),
    "death_date": Asking((), ("On what day did {} die?", "What is the date of death of {}?", "When did {} die?")),
    "death_year": Asking((), ("In what year did {} die?", "What is the year of death of {}?")),
    "born_in": Asking(
        ("the birthplace of {}", "the home town of {}"),
        (
            "What is the birthplace of {}?",
            "Which city is {} originally from?",
            "Where did {} first see the light of day?",
        ),
    ),
    "educated_at": Asking(
        ("the alma mater of {}", "the university attended by {}"),
        ("What is the alma mater of {}?", "Which university did {} attend?", "Where was {} educated?"),
    ),
    "spouse": Asking(
        ("the spouse of {}", "the partner in marriage of {}"),
        ("Who is the spouse of {}?", "Who tied the knot with {}?", "What is the name of the spouse of {}?"),
    ),
    "parent": Asking(
        ("the {elder} of {}",),
        ("Who is the {elder} of {}?", "What is the name of the {elder} of {}?"),
    ),
    "award": Asking(
        ("the award won by {}", "the accolade bestowed upon {}"),
        ("Which award did {} win?", "What accolade was bestowed upon {}?"),
    ),
    "employer": Asking(
        ("the institution that employed {}", "the academic workplace of {}"),
        ("Which institution employed {}?", "At which university did {} teach?"),
    ),
    "plays_for": Asking(
        ("the team of {}", "the side that fielded {}"),
        ("Which team did {} play for?", "What side fielded {}?"),
    ),
    "known_film": Asking(
        ("the most famous movie of {}",),
        ("What is the most famous movie of {}?", "Which movie brought renown to {}?"),
    ),
    "known_novel": Asking(
        ("the most famous book of {}",),
        ("What is the most famous book of {}?", "Which book brought renown to {}?"),
    ),
    "known_album": Asking(
        ("the most famous LP of {}",),
        ("What is the most famous LP of {}?", "Which LP brought renown to {}?"),
    ),
    "known_company": Asking(
        ("the business started by {}", "the enterprise created by {}"),
        ("What business did {} start?", "Which enterprise did {} create?"),
    ),
}

WORKS_ASKING: dict[str, dict[str, Asking]] = {
    "film": {
        "year": _OUT,
        "director": Asking(
            ("the filmmaker behind {}", "the person who helmed {}", "the director of {}"),
            ("Who helmed {}?", "Which filmmaker made {}?", "Who is the director of {}?"),
        ),
        "screenwriter": Asking(
            ("the scriptwriter of {}", "the person who penned {}"),
            ("Who penned {}?", "Who is the scriptwriter of {}?"),
        ),
        "lead_actor": Asking(
            ("the lead performer of {}", "the person with top billing in {}"),
            ("Who had top billing in {}?", "Who is the lead performer of {}?"),
        ),
        "composer": Asking(
            ("the person behind the soundtrack of {}", "the person who scored {}"),
            ("Who scored {}?", "Who made the soundtrack of {}?"),
        ),
        "studio": Asking(
            ("the firm that financed {}", "the producer of {}"),
            ("Which firm financed {}?", "What company is behind {}?"),
        ),
        "based_on": Asking(
            ("the literary source of {}", "the book that inspired {}"),
            ("Which book inspired {}?", "What is the literary source of {}?"),
        ),
    },
    "novel": {
        "year": _OUT,
        "author": Asking(
            ("the person who penned {}", "the creator of {}"),
            ("Who penned {}?", "Who is the creator of {}?", "Whose work is {}?"),
        ),
        "publisher": Asking(
            ("the imprint behind {}", "the house that put out {}"),
            ("Which imprint put out {}?", "What house put out {}?"),
        ),
        "set_in": Asking(
            ("the setting of {}", "the city where {} plays"),
            ("What city is the setting of {}?", "In which city does {} play?"),
        ),
    },
    "album": {
        "year": _OUT,
        "performer": Asking(
            ("the artist behind {}", "the artist who made {}"),
            ("Which artist made {}?", "Who is the artist behind {}?"),
        ),
        "producer": Asking(
            ("the person who supervised {}", "the person in charge of the mixing of {}"),
            ("Who supervised {}?", "Who was in charge of the mixing of {}?"),
        ),
        "label": Asking(
            ("the firm that marketed {}", "the imprint behind {}"),
            ("Which firm marketed {}?", "What imprint is behind {}?"),
        ),
        "recorded_in": Asking(
            ("the city where {} was taped", "the place of origin of {}"),
            ("In which city was {} taped?", "What is the place of origin of {}?"),
        ),
    },
    "song": {
        "year": _OUT,
        "album": Asking(
            ("the LP that includes {}", "the LP featuring {}"),
            ("Which LP includes {}?", "What LP features {}?"),
        ),
        "songwriter": Asking(
            ("the creator of {}", "the lyricist of {}"),
            ("Who is the lyricist of {}?", "Who came up with {}?"),
        ),
    },
}

ASKINGS: dict[str, dict[str, Asking]] = {"person": PEOPLE_ASKING} | WORKS_ASKING | PLACES_ASKING | GROUPS_ASKING
"""The wordings of each kind's relations."""

DESCRIPTIONS: dict[str, tuple[str, ...]] = {
    "film": ("the film that {maker} made in {year}", "the {year} movie helmed by {maker}"),
    "novel": ("the book that {maker} penned in {year}", "the {year} book by {maker}"),
    "album": ("the LP that {maker} made in {year}", "the {year} LP by {maker}"),
    "company": ("the business that {maker} started in {year}", "the {year} venture of {maker}"),
}
"""How questions describe the works and companies of a maker instead of naming them."""
