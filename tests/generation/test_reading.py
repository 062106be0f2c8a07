"""What is read from a passage: spans, candidates, dates, links."""

import numpy as np
import pytest

from evidencegym.data.records import Passage
from evidencegym.generation.attributes import attributes
from evidencegym.generation.candidates import N_CUES, STATIC_FEATURES, read_candidates
from evidencegym.generation.evidence import IDF_BITS, SENTENCE_FEATURES, Evidence
from evidencegym.generation.gaps import Gaps
from evidencegym.generation.question import read_question
from evidencegym.generation.reading import only, read_passage
from evidencegym.generation.spans import candidate_spans, tokens

IDF = np.ones(1 << IDF_BITS, np.float32)


@pytest.mark.parametrize(
    ("sentence", "span"),
    [
        ("It was directed by Rainer Werner Fassbinder.", "Rainer Werner Fassbinder"),
        ("Ann was born on 12 December 1925 in Reed.", "12 December 1925"),
        ("Ann (December 12, 1925 – May 1, 1970) sang.", "May 1, 1970"),
        ("Born 9 October 19408 December 1980 there.", "9 October 1940"),
        ("It has its seat in Canton, Massachusetts, since 1999.", "Canton, Massachusetts"),
        ("The band sold 294,000 copies.", "294,000"),
        ("It cost $ 4.5 million in all.", "$ 4.5 million"),
        ("He died of a heart attack.", "heart attack"),
        ("The Battle of Lake Erie was fought.", "Battle of Lake Erie"),
        ('It is called "Brave New World" there.', "Brave New World"),
        ("Fall rises 6.8 inches.", "6.8 inches"),
        ("Jean-Luc Picard spoke.", "Jean-Luc Picard"),
        ("The film's director was Ann's.", "film"),
    ],
)
def test_a_candidate_is_found(sentence: str, span: str) -> None:
    assert span in [s.text for s in candidate_spans(sentence, tokens(sentence))]


def test_candidates_stand_where_they_say() -> None:
    sentence = "Ann Lee (12 May 1900 – 3 June 1970) was a singer from Reed, Ohio."
    parts = tokens(sentence)
    for span in candidate_spans(sentence, parts):
        assert span.text.split()[0] in sentence[parts[span.first].start :]
        assert 0 <= span.first <= span.last < len(parts)


def test_arrays_of_a_passage_fit_together() -> None:
    passage = Passage.of("Ann Lee (singer)", ["Ann Lee was born in 1900.", "", "She sang in Reed."])
    reading, found = read_passage(passage), read_candidates(passage)
    assert reading.title_core == "Ann Lee"
    assert [s.index for s in reading.sentences] == [-1, 0, 2]
    n = len(found.texts)
    assert found.static.shape == (n, len(STATIC_FEATURES)) and found.cues.shape == (n, N_CUES)
    assert found.row.shape == found.first.shape == found.last.shape == (n,)
    assert found.norms[0] == "ann lee"
    assert np.all(np.diff(found.row) >= 0)


def test_only_keeps_indices() -> None:
    passage = Passage.of("T", ["a", "b", "c"])
    assert only(passage, {1}).sentences == ("", "b", "")


@pytest.mark.parametrize(
    ("text", "birth", "death"),
    [
        ("Ann (12 May 1900 – 3 June 1970) sang.", 1900, 1970),
        ("Ann (born May 12, 1900) sings.", 1900, None),
        ("Ann was born in 1900. She died in 1970.", 1900, 1970),
        ("Ann (died 1970) sang.", None, 1970),
        ("A song.", None, None),
    ],
)
def test_dates_of_a_life(text: str, birth: int | None, death: int | None) -> None:
    found = attributes(Passage.of("Ann", [text]))
    assert (found.birth and int(found.birth)) == birth
    assert (found.death and int(found.death)) == death


def test_countries_come_from_adjectives_and_regions() -> None:
    found = attributes(Passage.of("Ann", ["Ann is a German singer who lives in Ohio."]))
    assert found.nations == ("germany",)
    assert found.regions == ("united states",)


FILM = Passage.of("Quiet Harbour", ["Quiet Harbour is a film by Marta Leone."])
LEONE = Passage.of("Marta Leone", ["Marta Leone was born in Bergamo."])
TOWN = Passage.of("Bergamo", ["Bergamo is a city."])


def test_depth_follows_the_links_from_the_question() -> None:
    evidence = Evidence(read_question("Where was the director of Quiet Harbour born?"), (TOWN, LEONE, FILM), IDF)
    assert evidence.depth.tolist() == [2, 1, 0]
    assert evidence.links[2, 1] and evidence.links[1, 0] and not evidence.links[0].any()
    assert evidence.features.shape == (6, len(SENTENCE_FEATURES))
    assert np.isfinite(evidence.features).all()


def test_names_that_may_lead_further_are_those_of_question_and_evidence() -> None:
    evidence = Evidence(read_question("Where was the director of Quiet Harbour born?"), (FILM,), IDF)
    gaps = Gaps(evidence, np.zeros(len(evidence.rows)))
    assert gaps.keys[0] == "quiet harbour"
    assert "marta leone" in gaps.keys
    assert len(set(gaps.keys)) == len(gaps.keys) == len(gaps.texts)
    assert np.isfinite(gaps.features(np.zeros(len(gaps)))).all()
