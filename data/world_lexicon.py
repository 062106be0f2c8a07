"""The syllables and words from which the synthetic world makes its names; none is taken from a real person or place."""

from __future__ import annotations

from typing import NamedTuple


class Culture(NamedTuple):
    """The grammar of one culture's names: onset vowel link (vowel link …) ending.

    Onsets and links are runs of consonants, vowels are runs of vowels, endings start with a vowel and all endings of
    one list have the same number of runs: so different choices always spell different names. Men's first names end
    with a consonant and women's with a vowel, so no first name is both. Stems, which name groups and waters, end with
    another letter in every culture.
    """

    onsets: tuple[str, ...]
    vowels: tuple[str, ...]
    links: tuple[str, ...]
    male: tuple[str, ...]
    female: tuple[str, ...]
    surname: tuple[str, ...]
    stem: tuple[str, ...]
    place: tuple[str, ...]
    land: tuple[str, ...]


def _culture(*lists: str) -> Culture:
    return Culture(*(tuple(words.split()) for words in lists))


CULTURE_GRAMMARS = (
    _culture(
        "b d g k l m n p r s t v z br dr gr kr vl st zv",
        "a e i o u",
        "d l m n r s t v z rk ln dm st gr",
        "an ek im os uv",
        "a ia e",
        "ovek enik aric ubor itov evan",
        "ov av iv",
        "ograd avets ogor emost",
        "avia ornia emia",
    ),
    _culture(
        "b d f g h j k l n r s t v br fl gr sk st tr",
        "a e i o u ei",
        "d g l m n r rn rv lg nd lm sk",
        "ar in ulf or ed",
        "a i e",
        "isen ander orsken eland oven ulfsen",
        "und eld ird",
        "eholm avik osund enes",
        "emark alund oland",
    ),
    _culture(
        "b c d f g l m n p r s t v br cr fr pr tr",
        "a e i o u",
        "c d l ll m n r rn rt s st v cc nd",
        "on el ir ant",
        "a ia e",
        "atti ona arro uzzi ullo ante",
        "o io ao",
        "arda onte ezzo illa",
        "esia ania uria",
    ),
    _culture(
        "d h j k m n r s t z kh sh",
        "a e i u aa",
        "b d h k l m n r s sh z rd hr",
        "im ar ud en",
        "a i aa",
        "adi erou azi aba ouri",
        "az iz uz",
        "abad ishar ehan urad",
        "istan amir ehran",
    ),
    _culture(
        "h k m n r s t w ch ts sh",
        "a e i o u",
        "b d g k m n r s t sh ts",
        "or un em as",
        "o e i",
        "imura asato ogawe uchita emori",
        "oshi aki umi",
        "okawe umino ashiro ezaki",
        "okune amato inoru",
    ),
    _culture(
        "b c d f g h l m n p r t w bl br cl gl th",
        "a e i o ea",
        "d l ll m n r rr w th ld rd ck",
        "en in or as",
        "a ie e",
        "ingholm awell ather ogan erill",
        "en in on",
        "ingford owick atton emouth",
        "inshire oldenne atharne",
    ),
)

ADJECTIVES = tuple(
    "Amber Ancient Barren Bitter Blue Borrowed Bright Broken Burning Careful Clear Cold Crimson Crooked Dark "
    "Distant Divided Drowned Early Empty Endless Faded Fallen Faithful Final Forgotten Fragile Frozen Gentle "
    "Gilded Golden Green Grey Hidden Hollow Honest Hungry Idle Iron Ivory Last Late Little Lonely Long Lost Low "
    "Marble Midnight Narrow Nameless Northern Old Open Pale Paper Patient Perfect Quiet Red Restless Rusted "
    "Sacred Salted Scarlet Second Secret Seventh Shallow Silent Silver Sleeping Slow Small Southern Stolen "
    "Stubborn Sunken Tall Tender Third Thirsty Twisted Unbroken Unfinished Unwritten Velvet Violet Wandering "
    "Weary White Wild Winter Wooden Worthy Yellow Young".split()
)

NOUNS = tuple(
    "Anchor Arrow Atlas Ballroom Beacon Bell Blacksmith Border Boundary Bridge Candle Canopy Captain Caravan "
    "Carriage Cathedral Chapel Circle Clock Coast Compass Corridor Courtyard Crossing Crown Curtain Dagger "
    "Daughter Desert Door Dream Echo Ember Engine Envoy Falcon Ferry Field Fire Fountain Frontier Furnace Garden "
    "Gate Ghost Glacier Harbour Harvest Heron Hill Horizon House Hunter Inheritance Island Journey Key Kingdom "
    "Lantern Ledger Letter Lighthouse Locket Machine Map Market Mask Meadow Meridian Message Mill Mirror Monument "
    "Moon Nightingale Oath Ocean Orchard Orchestra Palace Passage Pilgrim Portrait Promise Quarry Railway Raven "
    "Refuge Reservoir Return Ribbon Ring Road Sailor Sanctuary Season Shadow Shepherd Shore Signal Sky Song "
    "Sparrow Staircase Star Station Storm Stranger Street Summer Supper Swan Teacher Theatre Thief Threshold Tide "
    "Tower Traveller Treaty Valley Verdict Village Violin Voyage Wall Watchman Wedding Wheel Widow Window Witness "
    "Wolf Workshop".split()
)

MATERIALS = tuple(
    "Amber Ash Brass Bone Cedar Chalk Clay Copper Coral Dust Fog Glass Gold Granite Honey Ice Ink Iron Linen "
    "Marble Mist Paper Pearl Porcelain Rain Salt Sand Silk Smoke Snow Stone Straw Thunder Timber Velvet Water Wax "
    "Wine Wool".split()
)

OWNERS = tuple(
    "Admiral Architect Astronomer Baker Beekeeper Botanist Carpenter Clockmaker Composer Conductor Doctor Dyer "
    "Emperor Engraver Farmer Ferryman Fisherman Gardener Geographer Glassblower Guardian Historian Innkeeper "
    "Jeweller Judge Librarian Magician Mason Merchant Miller Navigator Painter Pianist Poet Potter Printer "
    "Prisoner Sculptor Senator Surgeon Surveyor Tailor Translator Weaver".split()
)

DEEDS = tuple(
    "Burying Carving Chasing Climbing Counting Crossing Drawing Dreaming Fearing Finding Following Forgiving "
    "Guarding Hearing Holding Inventing Keeping Leaving Lighting Losing Measuring Mending Naming Painting Reading "
    "Remembering Saving Selling Stealing Watching".split()
)

SHAPES = (
    "Lullaby",
    "Nocturne",
    "Affair",
    "Road",
    "Diaries",
    "Crossing",
    "Elegy",
    "Letters",
    "Summer",
    "Manuscript",
    "Tapes",
)
"""What follows an invented word in the title of a work."""

SIGNS = {
    "film": ("Pictures", "Films", "Studios"),
    "book": ("Press", "Books", "Publishing House"),
    "record": ("Records", "Sound", "Recordings"),
    "goods": ("Motors", "Textiles", "Shipping", "Glassworks", "Foundry"),
}
"""What follows the invented word in a company's name, by its trade."""

BUILDINGS = ("University", "College", "Polytechnic", "Institute", "Academy")
FEASTS = ("Festival", "Film Festival", "Biennale", "Festival of Song")
HONOURS = ("Prize", "Medal", "Award", "Laurel")
CLUBS = ("Rovers", "Athletic", "Wanderers", "United", "Falcons", "Harriers")
PREFIXES = ("New", "Upper", "East", "Old", "Lower")
"""What tells a city from the one that its name repeats."""

MONTHS = tuple("January February March April May June July August September October November December".split())
