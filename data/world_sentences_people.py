"""How articles of the synthetic world speak of people.

In braces: a relation, whose value is put there; a list of words (see ``world_wordbook``); ``somebody``, ``somewhere``
or ``sometime``, of no consequence; or a word of grammar: ``T`` the name, ``S`` and ``s`` the subject, ``P`` and ``p``
its possessive, ``o`` its object form, ``be`` is or was. A name is never next to another capitalised word or number
with nothing but particles such as "in" or "of" between them.
"""

from __future__ import annotations

from .world_wordbook import Wording

PEOPLE = {
    "person": Wording(
        openings=(
            "{T} (born {birth_date}) {be} {role}.",
            "{T}, born {birth_date}, {be} {role} of the {persuasion} school.",
            "{T} {be} {role}, born on {birth_date} at {born_in}.",
            "{T} {be} {role} whose life began on {birth_date}.",
            "{T} ({birth_date} – {death_date}) {be} {role}.",
            "{T}, who lived from {birth_date} until {death_date}, {be} {role}.",
            "{T} (born {birth_year}) {be} {role} known for {quality} work.",
            "The life of {T}, {role}, began on {birth_date}.",
        ),
        sentences=(
            "{S} was born in {born_in}, where {p} family kept a {shop}.",
            "{S} came into the world at {born_in} as the {ordinal} of {few} children.",
            "{S} grew up far from {born_in}, where {s} was born, but never lost the accent.",
            "{S} was a native of {born_in}.",
            "{S} was raised by an aunt after leaving {born_in}, {p} place of birth.",
            "{S} died on {death_date} after a short illness.",
            "{S} passed away on {death_date}.",
            "{P} death came on {death_date}, during a stay at a {resort}.",
            "{S} was buried without ceremony, having died on {death_date}.",
            "{S} studied {subject} at {educated_at}.",
            "{S} took a degree in {subject} from {educated_at}.",
            "{S} was a graduate of {educated_at}, where {s} read {subject}.",
            "After school {s} enrolled at {educated_at} but preferred the library to the lectures.",
            "{S} spent {few} years as a student at {educated_at}.",
            "{S} married {spouse}, whom {s} had met at a {occasion}.",
            "{S} was married to {spouse} for most of {p} life.",
            "{S} shared {p} home with {spouse}, to whom {s} was wed at an early age.",
            "{P} marriage with {spouse} was a {mood} one.",
            "{S} was the {kid} of {parent}.",
            "{P} {elder} was {parent}.",
            "{S} learned much from {p} {elder}, {parent}.",
            "As the only {kid} of {parent}, {s} grew up among {crowd}.",
            "{S} received the {award} for {p} {quality} work.",
            "The {award} was conferred on {o} late in life.",
            "{S} was honoured with the {award}.",
            "Among {p} distinctions was the {award}.",
            "{S} held a chair at {employer}.",
            "{S} worked for {few} decades at {employer}, mostly on {subject}.",
            "The laboratory that {s} led belonged to {employer}.",
            "{S} was a professor at {employer}.",
            "{S} wore the shirt of {plays_for} for {few} seasons.",
            "{S} spent {p} playing days as a {position} for {plays_for}.",
            "{S} made {p} name as a {position} with {plays_for}.",
            "{S} joined {plays_for} as a boy and never left.",
            "{S} is best remembered for the film {known_film}.",
            "{P} reputation rests on the film {known_film}.",
            "{S} owed {p} fame to the picture {known_film}.",
            "{S} is best remembered for the novel {known_novel}.",
            "{P} most widely read book is {known_novel}.",
            "{S} owed {p} fame to the novel {known_novel}.",
            "{S} is best remembered for the album {known_album}.",
            "{P} most admired record is {known_album}.",
            "{S} owed {p} fame to the album {known_album}.",
            "{S} set up {known_company} with borrowed money.",
            "{S} built {known_company} from a rented {shop}.",
            "{S} made a fortune with {known_company}.",
            "{S} was born in {born_in} as the {kid} of {parent}.",
            "{S} attended {educated_at}, and later married {spouse}.",
        ),
        aliases=(
            "{S} was also known as {alias}.",
            "{S} was better known to the public as {alias}.",
            "Some of {p} work was signed {alias}.",
            "In private life {s} went by the name {alias}.",
        ),
        fillers=(
            "A long friendship with {somebody} left its mark on {p} letters.",
            "{S} never learned to drive, collected {things}, and rose before dawn.",
            "Critics of the day called {p} manner {mood}.",
            "{P} papers, among them a diary about {things}, were sold at auction.",
            "{S} spent the winter of {sometime} abroad, and came back with a taste for {things}.",
            "A quarrel with {somebody} over {things} was never settled.",
            "{S} travelled to {somewhere} several times and wrote about its {sights}.",
            "A portrait of {o} by a {mood} painter hangs in a private {shop}.",
            "{P} memoirs deal less with work than with {things}.",
            "Illness kept {o} from public life for {few} years.",
            "A street in {somewhere} carries {p} name.",
            "{S} spoke {few} languages, none of them without mistakes.",
        ),
        lists=(
            "{P} {made} include {oeuvre}.",
            "Among {p} {made} are {oeuvre}.",
            "To {p} {made} belong {oeuvre}.",
        ),
    ),
}
