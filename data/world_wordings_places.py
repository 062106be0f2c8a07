"""How questions about the synthetic world name the relations of places and groups; see ``world_wordings``."""

from __future__ import annotations

from .world_asking import Asking

_BEGAN = Asking((), ("When was {} set up?", "In what year did {} come into being?", "What is the founding year of {}?"))

PLACES_ASKING: dict[str, dict[str, Asking]] = {
    "city": {
        "year": _BEGAN,
        "region": Asking(
            ("the province of {}", "the territory surrounding {}"),
            ("In which province is {} situated?", "What territory surrounds {}?"),
        ),
        "river": Asking(
            ("the stream that passes {}", "the watercourse of {}"),
            ("Which stream passes {}?", "What watercourse is {} situated on?"),
        ),
        "mayor": Asking(
            ("the head of the council of {}", "the municipal leader of {}"),
            ("Who is the municipal leader of {}?", "Who heads the council of {}?"),
        ),
    },
    "region": {
        "country": Asking(
            ("the nation that includes {}", "the state that includes {}"),
            ("Which nation includes {}?", "What state is {} in?"),
        ),
        "capital": Asking(
            ("the administrative centre of {}", "the seat of government of {}"),
            ("What is the administrative centre of {}?", "Which city is the seat of government of {}?"),
        ),
        "highest_point": Asking(
            ("the tallest mountain of {}", "the loftiest mountain of {}"),
            ("What is the tallest mountain of {}?", "Which mountain is the loftiest of {}?"),
        ),
    },
    "country": {
        "year": Asking((), ("In what year did {} become a nation of its own?", "When did {} become self-governing?")),
        "capital": Asking(
            ("the seat of power of {}", "the administrative centre of {}"),
            ("What is the administrative centre of {}?", "Which city is the seat of power of {}?"),
        ),
        "head_of_state": Asking(
            ("the leader of {}", "the person who governs {}"),
            ("Who is the leader of {}?", "Who governs {}?"),
        ),
        "anthem_composer": Asking(
            ("the person behind the national hymn of {}", "the creator of the national hymn of {}"),
            ("Who created the national hymn of {}?", "Who is behind the national hymn of {}?"),
        ),
        "longest_river": Asking(
            ("the greatest stream of {}", "the most extended stream of {}"),
            ("What is the greatest stream of {}?", "Which stream is the most extended of {}?"),
        ),
    },
    "river": {
        "source": Asking(
            ("the place where {} starts", "the starting point of {}"),
            ("Where does {} start?", "What is the starting point of {}?"),
        ),
        "mouth": Asking(
            ("the body of water that receives {}", "the end point of {}"),
            ("What body of water receives {}?", "Where does {} end?"),
        ),
        "length": Asking((), ("How many kilometres does {} run?", "How long is {} in kilometres?")),
    },
    "lake": {
        "region": Asking(
            ("the province around {}", "the territory around {}"),
            ("In which province can {} be found?", "What territory contains {}?"),
        ),
        "depth": Asking((), ("How many metres deep is {}?", "How deep is {} in metres?")),
    },
    "mountain": {
        "region": Asking(
            ("the province around {}", "the territory around {}"),
            ("In which province can {} be found?", "What territory contains {}?"),
        ),
        "height": Asking((), ("How tall is {} in metres?", "What is the elevation of {} in metres?")),
        "climber": Asking(
            ("the conqueror of {}", "the person who first scaled {}"),
            ("Who first scaled {}?", "Who was the conqueror of {}?"),
        ),
        "year": Asking((), ("In what year was {} first scaled?", "When was {} first conquered?")),
    },
}

GROUPS_ASKING: dict[str, dict[str, Asking]] = {
    "company": {
        "year": _BEGAN,
        "founder": Asking(
            ("the person who started {}", "the creator of {}"),
            ("Who started {}?", "Who is the creator of {}?"),
        ),
        "headquarters": Asking(
            ("the seat of {}", "the city where {} is located"),
            ("In which city is {} located?", "What city is the seat of {}?"),
        ),
    },
    "university": {
        "year": _BEGAN,
        "city": Asking(
            ("the home city of {}", "the city where {} is situated"),
            ("In which city is {} situated?", "What is the home city of {}?"),
        ),
        "rector": Asking(
            ("the head of {}", "the person in charge of {}"),
            ("Who is the head of {}?", "Who is in charge of {}?"),
        ),
    },
    "festival": {
        "year": _BEGAN,
        "city": Asking(
            ("the venue of {}", "the city where {} happens"),
            ("In which city does {} happen?", "Which city is the venue of {}?"),
        ),
        "founder": Asking(
            ("the creator of {}", "the person who launched {}"),
            ("Who launched {}?", "Who is the creator of {}?"),
        ),
    },
    "award": {
        "year": _BEGAN,
        "presenter": Asking(
            ("the event where {} is bestowed", "the event behind {}"),
            ("At which event is {} bestowed?", "What event is behind {}?"),
        ),
        "named_after": Asking(
            ("the namesake of {}", "the person that {} pays tribute to"),
            ("To whom does {} pay tribute?", "Who is the namesake of {}?"),
        ),
    },
    "team": {
        "year": _BEGAN,
        "city": Asking(
            ("the home town of {}", "the home city of {}"),
            ("What is the home town of {}?", "Which city do the players of {} call home?"),
        ),
        "coach": Asking(
            ("the manager of {}", "the person who instructs {}"),
            ("Who is the manager of {}?", "Who instructs {}?"),
        ),
        "owner": Asking(
            ("the proprietor of {}", "the firm that controls {}"),
            ("What firm controls {}?", "Who is the proprietor of {}?"),
        ),
    },
}
