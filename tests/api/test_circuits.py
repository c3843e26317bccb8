"""Circuits from Python: a contrast, and what is asked about it."""

import numpy as np
import pytest

import lmviz

CLEAN, OTHER = "The bat made noise at", "The dog made noise at"


def test_a_grid_of_patches_has_named_axes_a_table_and_files(tmp_path):
    contrast = lmviz.contrast(CLEAN, OTHER, measure="logit:night-the")
    effect = lmviz.patch("stories-transformer", contrast, taps=["layers/*/residual2"])
    assert effect.axes == ("layer", "position")
    assert effect.array.shape == (3, 6)
    assert effect.array[-1, -1] == pytest.approx(1, abs=1e-5)
    assert effect.measure == "logit:night-the@5"
    first, *_, last = effect.table()
    assert (first["layer"], first["position name"], first["value"]) == (0, "⟨start⟩", 0)
    assert last == {"layer": 2, "position": 5, "position name": "at", "value": effect.array[-1, -1]}
    effect.save(tmp_path / "grid.npz")
    with np.load(tmp_path / "grid.npz") as file:
        assert (file["array"] == effect.array).all()
        assert tuple(file["axes"]) == effect.axes
    effect.save(tmp_path / "grid.csv")
    assert (tmp_path / "grid.csv").read_text().splitlines()[0] == "layer,position,position name,value"
    with pytest.raises(lmviz.LmvizError, match=r"end it with \.csv or \.npz"):
        effect.save(tmp_path / "grid.txt")


def test_of_several_contrasts_there_are_as_many_grids():
    contrasts = [lmviz.contrast(CLEAN, OTHER), lmviz.contrast(OTHER, CLEAN)]
    one, other = lmviz.patch("stories-gru", contrasts)
    assert one.clean == pytest.approx(-other.clean, abs=20)
    assert one.measure != other.measure or one.clean == pytest.approx(other.changed)


def test_what_is_no_contrast_is_refused():
    with pytest.raises(lmviz.LmvizError, match="is not a contrast"):
        lmviz.patch("stories-gru", "The bat")


def test_without_a_measure_the_likeliest_word_of_each_text_is_proposed():
    model = lmviz.open_model("shakespeare-transformer")
    effect = lmviz.patch(model, lmviz.contrast("the qu", "the th"))
    clean, changed = (
        model.tokenizer.token(lmviz.next_token(model, text).best) for text in ("the qu", "the th")
    )
    assert effect.measure.startswith(f"logit:{clean}-{changed}@")
    assert effect.clean > effect.changed


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["x well"] * 3 + ["x known"] * 2 + ["x else", "y well-known"], "logit:well-else@1"),
        (["x @"] * 3 + ["x a"] * 2, "logit:@-a@1"),
        (["x a@b"] * 3 + ["x -"] * 2, "logit:a@b--@1"),
    ],
)
def test_two_words_are_proposed_that_are_read_as_two(lines, expected, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(lines * 5))
    corpus = lmviz.load_corpus(text, tokenizer="spaces", documents="line", validation=0.0)
    lmviz.train("ngram", corpus, tmp_path / "run", steps=5)
    parts = lmviz.attribute(tmp_path / "run", lmviz.contrast("x"))
    assert parts.measure == expected
    assert parts.total > 0


def test_the_parts_of_a_choice_add_up_to_it():
    contrast = lmviz.contrast(CLEAN, measure="logit:night-the")
    parts = lmviz.attribute("stories-transformer", contrast)
    trace = lmviz.trace("stories-transformer", CLEAN)
    logits = trace["logits"].array[-1]
    night, the = (trace.vocabulary.index(word) for word in ("night", "the"))
    assert parts.total == pytest.approx(float(logits[night] - logits[the]), abs=1e-5)
    assert parts["head"].array.shape == (3, 4)
    assert parts["head"].axes == ("layer", "head")
    read = parts.words["layers/2/attention/heads/1"]
    assert read.labels("key") == trace.tokens
    assert read.total == pytest.approx(parts["head"].array[2, 1], abs=1e-5)
    assert parts.held == ("layers/2/residual2",)


def test_the_loss_without_each_head_has_a_band_and_the_mean_is_taken_over_the_text(tmp_path):
    three = "The cat sat on the mat.\n\nThe dog ran.\n\nA cow slept.\n\n"
    (tmp_path / "held_out.txt").write_text(three * 3)
    path = str(tmp_path / "held_out.txt")
    found = lmviz.ablate("stories-transformer", path, parts=["layers/*/attention/heads"], by="mean")
    assert found.axes == ("layer", "head")
    assert found.intact == pytest.approx(
        lmviz.evaluate("stories-transformer", path).negative_log_likelihood, rel=1e-5
    )
    assert (found.low <= found.array).all()
    assert (found.array <= found.high).all()
    intact = lmviz.ablate("stories-transformer", path, steps=[0, 6000])
    assert intact[0].intact > intact[6000].intact == pytest.approx(found.intact)


def test_heads_are_scored_at_each_snapshot():
    found = lmviz.head_scores("stories-transformer", words=8, rows=2, steps="all")
    assert list(found)[-1] == 6000
    assert len(found) == 16
    assert (found[6000].first != found[0].first).any()
    with pytest.raises(lmviz.LmvizError, match="Only a run has snapshots"):
        lmviz.head_scores(lmviz.open_model("stories-transformer"), steps="all")


def test_weights_are_by_layer_and_head():
    matrices = lmviz.weights("stories-transformer")
    assert matrices.query.shape == (3, 4, 96, 24)
    assert matrices.ov(0, 1).shape == (96, 96)


def test_a_tagger_has_no_loss_over_a_file(tmp_path):
    (tmp_path / "text.txt").write_text("time flies")
    with pytest.raises(lmviz.LmvizError, match="ask this one about contrasts"):
        lmviz.ablate("ambiguous-gru-both", tmp_path / "text.txt")


def test_a_head_of_the_first_layer_brings_the_stone_back():
    """Found by trying, and said by the model's card: it looks at the thing of the first sentence."""
    told = "Maya owned a brown {}. She put it in the barrel. "
    told += "Later, Maya opened the barrel, and there lay the brown"
    contrast = lmviz.contrast(told.format("stone"), told.format("bell"))
    found = lmviz.circuit("stories-transformer", contrast, keep=8)
    assert found.measure == "logit:stone-bell@25"
    assert str(found.parts[0]) == "head 0·0 @ 25"
    assert found.array[0] > 0.9
    assert 0.9 < found.kept < 1.1
    assert str(found.edges[0].sender) == "word @ 5"
    assert found.edges[0].receiver == found.parts[0]
    assert found.table()[0]["part name"] == "head 0·0 @ 25"


@pytest.mark.parametrize("asked", ["patch", "two contrasts", "ablate", "head_scores", "steps", "circuit"])
def test_how_far_the_work_is_is_told_and_it_can_be_ended(asked):
    model, one = (
        "echo-transformer",
        lmviz.contrast("chair apple queen map chair", "chair apple hat map chair"),
    )
    ask = {
        "patch": lambda progress: lmviz.patch(model, one, estimate=True, progress=progress),
        "two contrasts": lambda progress: lmviz.patch(model, [one, one], progress=progress),
        "ablate": lambda progress: lmviz.ablate(model, [one, one], progress=progress),
        "head_scores": lambda progress: lmviz.head_scores(model, progress=progress),
        "steps": lambda progress: lmviz.head_scores(model, steps=[1100, 1600], progress=progress),
        "circuit": lambda progress: lmviz.circuit(model, one, 3, progress=progress),
    }[asked]
    told: list[float] = []
    ask(told.append)
    assert told[0] == 0
    assert told[-1] == 1
    assert told == sorted(set(told))
    assert any(0.2 < share < 0.8 for share in told)

    def end(share: float) -> None:
        if share > 0:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        ask(end)
    with pytest.raises(lmviz.LmvizError, match="progress must be a function"):
        ask("loudly")


def test_results_of_many_contrasts_have_means_and_bands():
    pairs = [
        ("The bat made noise at", "The dog made noise at"),
        ("The cat made noise at", "The cow made noise at"),
    ] * 4
    given = lmviz.contrasts("stories-transformer", pairs, measure="logit:night-the")
    assert given.rows == tuple(range(8))
    found = lmviz.patch("stories-transformer", given, taps="layers/*/attention/heads")
    means = found.means()
    np.testing.assert_allclose(means.array, np.mean([one.array for one in found], axis=0))
    assert (means.low <= means.array + 1e-12).all()
    assert (means.array <= means.high + 1e-12).all()
    assert means.rows.shape == (8, *means.array.shape)
    parts = lmviz.attribute("stories-transformer", given)
    assert len(parts) == 8
    lost = lmviz.ablate("stories-transformer", given)
    for number, contrast in enumerate(given.contrasts):
        alone = lmviz.ablate("stories-transformer", contrast)
        # differences of logits of size 10, in float32
        np.testing.assert_allclose(lost.rows[number], alone.array, atol=1e-4)
        assert lost.intact_rows[number] == pytest.approx(alone.intact, abs=1e-4)
    np.testing.assert_allclose(lost.array, lost.rows.mean(axis=0), atol=1e-12)
    assert ((lost.agreeing >= 0) & (lost.agreeing <= 1)).all()


def test_rows_that_cannot_be_asked_are_named():
    rows = [
        {"text": "The bat made noise at", "wanted": "night"},
        {"text": "The bat made noise at", "wanted": "unheard-of"},
        ("The bat made noise", "The dog"),
    ]
    found = lmviz.contrasts("stories-gru", rows)
    assert found.rows == (0,)
    assert "unheard-of" in found.troubles[1]
    assert "line up" in found.troubles[2]
    with pytest.raises(lmviz.LmvizError, match="Nothing can be asked"):
        lmviz.contrasts("stories-gru", rows[1:])
