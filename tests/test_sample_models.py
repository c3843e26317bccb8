"""The models that come with lmviz: small enough, described by their cards, and as good as those say."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from covering import parametrize_few

import lmviz
from lmviz.api.training import corpus_of, find_run, sample_models
from lmviz.base.places import shipped
from lmviz.decoding.judged_pairs import judged_pairs
from lmviz.decoding.quality_by_length import quality_by_length
from lmviz.runs.run_list import list_runs
from lmviz.text.grammar import Grammar
from lmviz.text.resources import resource_path
from lmviz.training.label_evaluation import evaluate_examples
from lmviz.training.run import Run

FOLDER = shipped("sample_models")
RECIPES = tomllib.loads((FOLDER / "recipes.toml").read_text(encoding="utf-8"))
LARGEST = 80_000_000


def test_each_recipe_has_its_model_in_the_list_and_its_card():
    names = set(RECIPES) - {"common"}
    assert names == set(sample_models()) == {run.title for run in list_runs(FOLDER)}
    for name in names:
        recipe, card = RECIPES[name], (FOLDER / name / "card.md").read_text(encoding="utf-8")
        assert card.startswith(f"# {recipe['title']}\n")
        assert all(f"- {hint}\n" in card for hint in recipe["look_for"])
        assert f"--out {name}" in card


def test_together_they_are_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < LARGEST


def told(name: str, row: str) -> float:
    """The number that a card says in a row of its table."""
    lines = (FOLDER / name / "card.md").read_text(encoding="utf-8").splitlines()
    [cell] = [line.split("|")[2] for line in lines if line.startswith(f"| {row} |")]
    return float(cell.split()[0].rstrip("%"))


STORY = (
    "Maya owned a brown stone. She put it in the barrel. "
    "Later, Maya opened the barrel, and there lay the brown"
)


def steps_told() -> tuple[int, int]:
    """The steps before and after which the Transformer has learned what returns, as its recipe says."""
    hints = " ".join(RECIPES["stories-transformer"]["look_for"])
    before, after = re.findall(r"at step ([\d,]+)", hints)
    return int(before.replace(",", "")), int(after.replace(",", ""))


def test_the_transformer_says_what_lay_in_the_barrel_and_the_lstm_cannot():
    model = lmviz.open_model("stories-transformer")
    stone = model.tokenizer.id_of("stone")
    found = lmviz.next_token(model, STORY)
    assert found.best == stone
    assert found.probability_of(stone) > 0.5
    assert lmviz.next_token("stories-lstm", STORY).probability_of(stone) < 0.1
    before, after = (
        lmviz.next_token(lmviz.open_model("stories-transformer", step), STORY) for step in steps_told()
    )
    assert before.probability_of(stone) < 0.2
    assert after.best == stone


def test_the_head_that_looks_back_at_the_stone_is_the_one_that_the_recipe_names():
    hints = " ".join(RECIPES["stories-transformer"]["look_for"])
    layer, head = re.search(r"Layer (\d), head (\d)", hints).groups()
    trace = lmviz.trace("stories-transformer", STORY)
    weights = trace[f"layers/{int(layer) - 1}/attention/weights"].array[int(head) - 1, -1]
    assert trace.tokens[weights.argmax()] == "stone"
    assert weights.max() > 0.5


ECHO = "chair apple queen map chair apple egg rope queen"


def echo_hints() -> tuple[tuple[int, int], list[int]]:
    """The layer and the head that repeat, counted from 0, and the two steps that the recipe names."""
    hints = " ".join(RECIPES["echo-transformer"]["look_for"])
    assert f"'{ECHO}'" in hints
    layer, head = map(int, re.search(r"layer (\d), head (\d)", hints).groups())
    return (layer - 1, head - 1), [
        int(step.replace(",", "")) for step in re.findall(r"step ([\d,]+\d)", hints)
    ]


def test_the_model_that_repeats_does_so_with_the_head_that_its_recipe_names():
    place, _ = echo_hints()
    contrast = lmviz.contrast(ECHO, ECHO.replace("map", "hat"), measure="logit:map-hat")
    patches = lmviz.patch("echo-transformer", contrast, "layers/*/attention/heads")
    assert patches.array[place] > 0.95
    assert np.abs(np.delete(patches.array, np.ravel_multi_index(place, (2, 4)))).max() < 0.1
    without = lmviz.ablate("echo-transformer", contrast)
    assert without.array[place] < -0.75 * without.intact
    assert lmviz.circuit("echo-transformer", contrast, keep=1, edges=False).kept > 0.95


def test_it_repeats_after_the_step_that_its_recipe_names_and_not_before():
    place, steps = echo_hints()
    taken = lmviz.head_scores("echo-transformer", words=14, steps=steps)
    models = [lmviz.open_model("echo-transformer", step) for step in steps]
    found = [lmviz.next_token(model, ECHO).probability_of(model.tokenizer.id_of("map")) for model in models]
    before, after = (taken[step].induction[place] for step in steps)
    assert found[0] < 0.2 < 0.6 < found[1]
    assert before < 0.25 < 0.5 < after


def test_it_is_small_and_has_the_snapshots_that_its_recipe_keeps():
    folder = FOLDER / "echo-transformer"
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 2_000_000
    assert Run.open(folder).snapshots() == RECIPES["echo-transformer"]["keep"]


def words_of(name: str) -> set[str]:
    """The choices of a list of the grammar of stories, in their first form."""
    grammar = Grammar.parse(resource_path("corpora", "stories.grammar").read_text(encoding="utf-8"))
    return {"".join(map(str, choice.forms[0])) for choice in grammar.lists[name].choices}


@pytest.mark.parametrize(
    ("prefix", "list_name"),
    [
        ("Once upon a time there was a little", "figure"),
        ("The dog was very", "feeling"),
        ("One day the", "figure"),
        ("My name is", "person"),
        ("The princess loved the", "figure"),
        ("The cat sat on the", "seat"),
    ],
)
def test_the_transformer_goes_on_from_what_a_student_types_first(prefix, list_name):
    model = lmviz.open_model("stories-transformer")
    found = lmviz.next_token(model, prefix)
    assert sum(found.probability_of(model.tokenizer.id_of(word)) for word in words_of(list_name)) > 0.8


@pytest.mark.parametrize("family", ["5-gram", "window", "rnn", "lstm", "gru"])
def test_every_model_of_stories_knows_how_a_story_begins(family):
    model = lmviz.open_model(f"stories-{family}")
    for prefix, likely in (
        ("Once upon a time there was a little", {"girl", "boy"}),
        ("The dog was very", {"happy"}),
    ):
        assert not any(model.tokenizer.encode_prefix(prefix).unknown)
        found = lmviz.next_token(model, prefix)
        assert model.tokenizer.token(found.best) in likely


@parametrize_few("direction", ["forward", "backward", "both"])
def test_a_tagger_is_as_good_as_its_card_says(direction):
    name = f"ambiguous-gru-{direction}"
    model, corpus = lmviz.open_model(name), corpus_of(Run.open(find_run(name)))
    found = evaluate_examples(model, corpus.validation_examples)
    assert found.negative_log_likelihood == pytest.approx(told(name, "all held-out tags"), abs=1e-3)
    assert 100 * found.accuracy == pytest.approx(told(name, "held-out tags right"), abs=0.2)
    above = found.negative_log_likelihood - corpus.floor
    assert above < 0.02 if direction == "both" else above > 0.002
    assert direction != "forward" or above > 0.2  # what it has not read yet decides


def test_the_classifier_tells_every_held_out_review():
    corpus = corpus_of(Run.open(find_run("reviews-lstm")))
    found = evaluate_examples(lmviz.open_model("reviews-lstm"), corpus.validation_examples)
    assert found.accuracy == 1.0
    assert found.negative_log_likelihood < 0.01


@pytest.fixture(scope="module")
def quality():
    """BLEU of the four translators by length, of a few sentences."""
    corpus = lmviz.load_corpus("twin")
    pairs = judged_pairs(corpus, each=6)
    names = [f"twin-gru-{kind}" for kind in ("short", "long", "attention-short", "attention-long")]
    opened = {name: lmviz.open_model(name) for name in names}
    assert len({model.parameter_count() for model in opened.values()}) == 1  # like for like
    measured = {
        name: quality_by_length(model, pairs, corpus.target_tokenizer) for name, model in opened.items()
    }
    return {
        name: {length: item.bleu.value for length, item in found.items()} for name, found in measured.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "trained"), [("short", 15), ("long", 30)])
def test_translators_with_attention_are_better_beyond_the_trained_length(quality, kind, trained):
    without, with_attention = quality[f"twin-gru-{kind}"], quality[f"twin-gru-attention-{kind}"]
    assert Run.open(find_run(f"twin-gru-{kind}")).description.longest_source == trained
    assert all(with_attention[length] > without[length] for length in without if length > trained)
    assert with_attention[trained] > 0.8
    assert with_attention[50] < 0.7


@pytest.mark.slow
def test_the_transformer_translates_what_it_has_learned_and_not_much_longer():
    corpus = lmviz.load_corpus("twin")
    pairs = [pair for pair in judged_pairs(corpus, each=6) if pair.length in (10, 15, 30)]
    found = quality_by_length(lmviz.open_model("twin-transformer"), pairs, corpus.target_tokenizer)
    assert found[10].bleu.value > 0.95
    assert found[15].bleu.value > 0.95
    assert found[30].bleu.value < 0.7


def test_runs_name_no_place_of_the_machine_they_were_trained_on():
    for name in sample_models():
        text = (Path(find_run(name)) / "run.json").read_text(encoding="utf-8")
        assert str(Path.home()) not in text
        assert not any(line.strip().startswith('"/') for line in text.splitlines())
