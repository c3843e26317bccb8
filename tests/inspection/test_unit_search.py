import numpy as np
import pytest

from lmviz.api.training import open_model, train
from lmviz.base.errors import LmvizError
from lmviz.inspection.tracing import trace
from lmviz.inspection.unit_search import WINDOW, search_corpus
from lmviz.text.corpus import load_corpus


def stream(a, length, seed=0):
    return np.random.default_rng(seed).integers(2, a("lstm").vocabulary_size, length).astype(np.uint8)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("window", "hidden"),
        ("lstm", "layers/1/forget"),
        ("lstm", "layers/0/hidden"),
        ("transformer-learned-pre", "layers/0/feedforward/activation"),
    ],
)
def test_the_places_of_a_short_corpus_are_those_of_its_trace(a, kind, address):
    model = a(kind)
    ids = stream(a, 12)
    values = trace(model, ids)[address].array[:, 2]
    (progress,) = search_corpus(model, ids, address, 2, count=1)
    assert progress.done == 1.0
    assert progress.places[0].position == values.argmax()
    assert progress.places[0].value == pytest.approx(values.max(), abs=1e-6)
    (lowest,) = search_corpus(model, ids, address, 2, count=1, sign=-1)
    assert lowest.places[0].value == pytest.approx(values.min(), abs=1e-6)


def test_every_position_of_a_long_corpus_is_judged_once(a):
    model = a("window")  # looks three tokens back, so windows change nothing
    ids = stream(a, 5 * WINDOW + 17)
    values = trace(model, ids)["hidden"].array[:, 1]
    *_, last = search_corpus(model, ids, "hidden", 1, count=100, batch=2)
    assert last.done == 1.0
    found = {place.position: place.value for place in last.places}
    assert len(found) == 100
    best = []
    for place in np.argsort(-values, kind="stable"):
        if all(abs(place - other) >= 3 for other in best):
            best.append(int(place))
    assert sorted(found) == sorted(best[:100])
    assert all(value == pytest.approx(values[place], abs=1e-6) for place, value in found.items())


def test_progress_grows_and_the_search_can_be_given_up(a):
    search = search_corpus(a("lstm"), stream(a, 1000), "layers/0/hidden", 0, batch=2)
    first, second = next(search), next(search)
    assert 0 < first.done < second.done < 1
    assert second.places[0].value >= first.places[0].value
    search.close()


def test_progress_says_how_much_was_read(a):
    windows = 1 + 6 * (WINDOW - WINDOW // 4)  # each goes on three quarters of a window later
    steps = list(search_corpus(a("window"), stream(a, windows + WINDOW // 4), "hidden", 0, batch=2))
    assert [step.done for step in steps] == pytest.approx([2 / 7, 4 / 7, 6 / 7, 1])


def test_a_place_shows_the_text_around_it(a):
    model = a("lstm")
    ids = model.tokenizer.encode("the cows eat corn . bats sleep at night .")
    (progress,) = search_corpus(model, ids, "layers/0/hidden", 0, count=3, around=2)
    place = progress.places[0]
    assert place.token == model.tokenizer.token(int(ids[place.position]))
    assert place.before == model.tokenizer.decode(ids[max(0, place.position - 2) : place.position])
    assert place.after == model.tokenizer.decode(ids[place.position + 1 : place.position + 3])


@pytest.mark.parametrize(
    ("address", "unit"), [("layers/0/hidden", 99), ("layers/7/hidden", 0), ("orders", 0)]
)
def test_units_must_be_there(a, address, unit):
    with pytest.raises(LmvizError, match="There is no unit 99" if unit else "has no units to search for"):
        list(search_corpus(a("lstm"), stream(a, 30), address, unit))


def test_an_empty_corpus_is_said(a):
    with pytest.raises(LmvizError, match="empty"):
        list(search_corpus(a("lstm"), np.zeros(0, dtype=np.uint8), "layers/0/hidden", 0))


def test_a_part_of_a_character_shows_it_and_is_no_text_beside_others(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the cows eat corn .\n" * 20, encoding="utf-8")
    corpus = load_corpus(path, tokenizer="bpe", vocabulary=260)
    run = train("rnn", corpus, tmp_path / "run", steps=1, width=4, batch=2, length=5, validate_every=0)
    model, text = open_model(run.folder), "the 🐄 🐄 eats ü 🌽 " * 4
    ids = corpus.tokenizer.encode(text)
    *_, last = search_corpus(model, ids, "layers/0/hidden", 0, count=60, around=5)
    tokens = {place.token for place in last.places}
    assert any(token.endswith("/4⟩") for token in tokens)
    assert not any("\\x" in token for token in tokens)
    for place in last.places:
        character, _, part = place.token.partition("⟨")
        assert f"{place.before}{character}{place.after}" in text or part
        assert "\ufffd" not in f"{place.before}{place.token}{place.after}"
        assert place.before in text
        assert place.after in text
