"""Small word lists of English that the extractive reader works with: stems, months, countries, relations, units."""

from __future__ import annotations

import zlib
from functools import lru_cache

from ..data.text import STOP_WORDS

MONTHS = {
    name: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), start=1
    )
}

NUMBER_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen "
    "first second third fourth fifth sixth seventh eighth ninth tenth once twice".split()
)

# One name for words that ask about, or state, the same relation.
_SAME = {
    "born": "birth birthday birthplace birthdate native",
    "die": "died dies death dead deceased killed",
    "spouse": "wife husband married marry marries wed partner",
    "parent": "father mother son daughter child children parents sons daughters grandfather grandmother grandson",
    "sibling": "brother sister siblings brothers sisters",
    "write": "wrote written writer author authored novelist screenwriter screenplay",
    "sing": "singer sung sings sang performer performed vocalist recorded",
    "compose": "composer composed music score soundtrack",
    "direct": "director directed directs",
    "country": "nation nationality citizenship",
    "found": "founded founder established formed created inception founding",
    "locate": "located location situated lies",
    "begin": "began started start starts begun",
    "city": "town village municipality",
    "company": "corporation firm",
    "film": "movie films",
    "release": "released releases came",
    "education": "studied educated university college attended graduated alumnus",
    "leader": "leads led head",
}
_SYNONYM = {word: name for name, words in _SAME.items() for word in (*words.split(), name)}
_SUFFIXES = (
    "ations",
    "ation",
    "ings",
    "ing",
    "ions",
    "ion",
    "ers",
    "er",
    "ors",
    "or",
    "ed",
    "es",
    "al",
    "ly",
    "s",
    "e",
)

# Demonym (or adjective) and country; several demonyms may share one country.
_NATIONS = """
american:united states;u.s.:united states;us:united states;usa:united states;america:united states;
british:united kingdom;uk:united kingdom;u.k.:united kingdom;english:united kingdom;scottish:united kingdom;
welsh:united kingdom;england:united kingdom;scotland:united kingdom;wales:united kingdom;britain:united kingdom;
irish:ireland;french:france;german:germany;italian:italy;spanish:spain;portuguese:portugal;dutch:netherlands;
belgian:belgium;swiss:switzerland;austrian:austria;swedish:sweden;norwegian:norway;danish:denmark;finnish:finland;
icelandic:iceland;polish:poland;czech:czech republic;slovak:slovakia;hungarian:hungary;romanian:romania;
bulgarian:bulgaria;greek:greece;turkish:turkey;russian:russia;soviet:soviet union;ukrainian:ukraine;
belarusian:belarus;serbian:serbia;croatian:croatia;slovenian:slovenia;bosnian:bosnia;albanian:albania;
macedonian:macedonia;estonian:estonia;latvian:latvia;lithuanian:lithuania;georgian:georgia;armenian:armenia;
azerbaijani:azerbaijan;kazakh:kazakhstan;indian:india;pakistani:pakistan;bangladeshi:bangladesh;
sri lankan:sri lanka;nepalese:nepal;chinese:china;japanese:japan;korean:korea;south korean:south korea;
north korean:north korea;taiwanese:taiwan;thai:thailand;vietnamese:vietnam;indonesian:indonesia;malaysian:malaysia;
singaporean:singapore;filipino:philippines;philippine:philippines;australian:australia;new zealander:new zealand;
canadian:canada;mexican:mexico;brazilian:brazil;argentine:argentina;argentinian:argentina;chilean:chile;
peruvian:peru;colombian:colombia;venezuelan:venezuela;ecuadorian:ecuador;bolivian:bolivia;uruguayan:uruguay;
paraguayan:paraguay;cuban:cuba;jamaican:jamaica;haitian:haiti;egyptian:egypt;israeli:israel;iranian:iran;
persian:iran;iraqi:iraq;syrian:syria;lebanese:lebanon;jordanian:jordan;saudi:saudi arabia;moroccan:morocco;
algerian:algeria;tunisian:tunisia;libyan:libya;nigerian:nigeria;ghanaian:ghana;kenyan:kenya;ethiopian:ethiopia;
south african:south africa;zimbabwean:zimbabwe;senegalese:senegal;malian:mali;cameroonian:cameroon;congolese:congo;
ugandan:uganda;tanzanian:tanzania;afghan:afghanistan;mongolian:mongolia;burmese:myanmar;cambodian:cambodia;
luxembourgish:luxembourg;maltese:malta;cypriot:cyprus;yugoslav:yugoslavia;puerto rican:puerto rico;
cape verdean:cape verde;guyanese:guyana;dominican:dominican republic;costa rican:costa rica;hong kong:hong kong
"""
NATION_OF = {
    key.strip(): country.strip()
    for pair in _NATIONS.replace("\n", "").split(";")
    if pair.strip()
    for key, country in [pair.split(":")]
}
COUNTRIES = frozenset(NATION_OF.values())
NATION_OF.update({country: country for country in COUNTRIES})
NATION_WORDS = frozenset(NATION_OF)
DEMONYMS = frozenset(NATION_OF) - COUNTRIES

_STATES = (
    "alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois "
    "indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi "
    "missouri montana nebraska nevada new_hampshire new_jersey new_mexico new_york north_carolina north_dakota "
    "ohio oklahoma oregon pennsylvania rhode_island south_carolina south_dakota tennessee texas utah vermont "
    "virginia west_virginia wisconsin wyoming"
)
# Where a text names no country, these tell it.
COUNTRY_OF_REGION = {state.replace("_", " "): "united states" for state in _STATES.split()} | dict.fromkeys(
    ("ontario", "quebec", "manitoba", "alberta", "saskatchewan", "nova scotia"), "canada"
)

UNITS = frozenset(
    "years year months days hours minutes people inhabitants residents miles mi km kilometres kilometers metres "
    "meters feet ft inches percent acres hectares seats members employees copies students passengers episodes "
    "seasons goals games rooms dollars euros pounds kg tons tonnes square".split()
)
PERSON_CUES = frozenset(
    "who whom whose actor actress singer director author writer player person man woman president wife husband father "
    "mother son daughter brother sister composer artist king queen founder".split()
)
PLACE_CUES = frozenset(
    "where city country county state town place village location region continent province district river capital "
    "island stadium birthplace nation area borough".split()
)


@lru_cache(maxsize=300_000)
def stem(word: str) -> str:
    """Return a rough stem of a lower-case word; words of the same relation ("director", "directed") share one."""
    word = word[:-2] if word.endswith(("'s", "’s")) else word
    if word in _SYNONYM:
        return _SYNONYM[word]
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)][:7]
    return word[:7]


@lru_cache(maxsize=300_000)
def word_id(word: str) -> int:
    """Return a number in [0, 2^32) that depends on the word alone."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=300_000)
def stem_id(word: str) -> int:
    """Return the number of a lower-case word's stem; 0 for a stop word."""
    return 0 if word in STOP_WORDS else word_id(stem(word))
