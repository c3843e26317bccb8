"""A scene's file: what it says comes back, and any bytes are a scene or one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.decoding.options import SamplingOptions
from lmviz.desktop.scene import (
    Scene,
    SceneModel,
    SceneNetwork,
    SceneText,
    found_from,
    is_scene,
    named_from,
    open_scene,
    save_scene,
)
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import scale_head, swap_tokens
from lmviz.text.corpus_options import CorpusOptions

FULL = Scene(
    perspective="attention",
    in_front=("heads_view", "attention_view"),
    text=SceneText(
        files=("texts/farm.txt", "../b.txt"), target="c.txt", options=CorpusOptions(documents="line")
    ),
    models=(SceneModel(sample="stories-rnn", step=4), SceneModel(path="../runs/a", step=6)),
    compared=(True,),
    prefix="the cows “eat”",
    source="die Kühe",
    changed="die Kuh",
    measure="logit:cows-cow@1",
    position=2,
    stage=3,
    cell=("layers/0/attention/weights", (1, 2, 0)),
    head=(1, 2),
    side="encoder",
    surgery=(scale_head(0, 1), swap_tokens(0, 2), Intervention("layers/0/hidden", "replace", (0.5, -1.0))),
    is_surgery_off=True,
    shows_gradients=True,
    spells_out=True,
    network=SceneNetwork(
        "v = 3\nu = square(v)\n", "B", pushed=1, popped=1, cell=("v", ()), is_gradient=True, has_slip=True
    ),
    race="../runs/rates",
    sampling=SamplingOptions(temperature=0.3, seed=7, seed_locked=True),
)


def test_a_scene_comes_back_as_it_was(tmp_path):
    path = save_scene(FULL, tmp_path / "night.lmviz")
    assert open_scene(path) == FULL
    assert open_scene(save_scene(Scene(), tmp_path / "empty.lmviz")) == Scene()


def test_a_slice_and_a_switched_off_change_come_back():
    change = Intervention("layers/*/hidden", "scale", 0.0, {"position": slice(1, None)}, enabled=False)
    scene = Scene(surgery=(change,))
    [found] = Scene.from_bytes(scene.to_bytes(), "a").surgery
    assert (found.where, found.enabled) == (change.where, False)


def test_a_pasted_text_stands_in_the_scene():
    text = SceneText(content="the cows eat\n", name="pasted text")
    assert Scene.from_bytes(Scene(text=text).to_bytes(), "a").text == text


def test_a_function_cannot_be_saved():
    change = Intervention("layers/0/hidden", "replace", lambda cells: cells)
    with pytest.raises(LmvizError, match="A file cannot hold a function"):
        Scene(surgery=(change,)).to_bytes()


def changed(**values):
    return json.dumps(json.loads(FULL.to_bytes()) | values).encode()


BROKEN_SCENES = [
    (b"the cows eat grass", "it is not JSON from line 1 on"),
    (FULL.to_bytes()[:-40], "it is not JSON from line"),
    (b"\xff\xfe", "it is not JSON"),
    (b"[" * 100_000, "it is not JSON"),
    (b"{}", "does not say that it is a lmviz scene"),
    (b"[1]", "does not say that it is a lmviz scene"),
    (changed(format_version=2), "only version 1 is known"),
    (changed(in_front=["heads_view", 2]), "its in_front is damaged"),
    (changed(text={}), "neither of the catalogue, nor in files"),
    (changed(text={"catalogue": "stories", "content": "a"}), "neither of the catalogue"),
    (changed(text={"files": ["a\0b"]}), "its files is damaged"),
    (changed(text={"files": ["a"], "options": {"tokenizer": 3, "x": 1}}), "There is no setting 'x'"),
    (changed(models=[{"step": 1}]), "neither a sample model nor at a path"),
    (changed(models=[{"sample": "a", "step": -1}]), "its step is not a whole number"),
    (changed(models=[{"sample": "a"}] * 5000), "its models is damaged"),
    (changed(position=True), "its position is not a whole number"),
    (changed(position=1e3), "its position is not a whole number"),
    (changed(prefix=3), "its prefix is not a text"),
    (changed(race="a\0b"), "its race is not a text"),
    (changed(race=["a"]), "its race is not a text"),
    (changed(cell={"address": "a", "index": ["b"]}), "its index is damaged"),
    (changed(network={"text": "v = 3", "version": "C"}), "its tape goes back neither as A nor as B"),
    (changed(network={"pushed": "many"}), "its pushed is not a whole number"),
    (changed(surgery=[{"address": "a"}]), "This is not an intervention"),
    (changed(sampling={"temperature": "hot"}), "Temperature must be a number"),
]


@pytest.mark.parametrize(("content", "reason"), BROKEN_SCENES)
def test_what_is_no_scene_gets_its_sentence(content, reason):
    with pytest.raises(LmvizError, match=r"^night\.lmviz is not a scene") as refused:
        Scene.from_bytes(content, "night.lmviz")
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_read_gets_its_sentence(tmp_path):
    with pytest.raises(LmvizError, match=r"gone\.lmviz cannot be read"):
        open_scene(tmp_path / "gone.lmviz")
    with pytest.raises(LmvizError, match="cannot be read"):
        open_scene(tmp_path)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def is_scene_or_sentence(content):
    try:
        scene = Scene.from_bytes(content, "a.lmviz")
    except LmvizError as refused:
        sentence = str(refused)
    else:
        sentence = ""
        assert Scene.from_bytes(scene.to_bytes(), "a.lmviz") == scene
    assert not sentence or sentence.startswith("a.lmviz is not a scene")


@given(st.integers(0, len(FULL.to_bytes())), st.integers(0, 40), st.binary(max_size=8))
def test_a_damaged_scene_is_a_scene_or_a_sentence(place, cut, put):
    whole = FULL.to_bytes()
    is_scene_or_sentence(whole[:place] + put + whole[place + cut :])


@given(st.binary(max_size=200))
def test_any_bytes_are_a_scene_or_a_sentence(content):
    is_scene_or_sentence(content)


@given(st.dictionaries(st.sampled_from(sorted(json.loads(FULL.to_bytes()))[1:]), PLAIN, max_size=4))
def test_any_values_are_a_scene_or_a_sentence(values):
    values.pop("format", None)
    values.pop("format_version", None)
    is_scene_or_sentence(changed(**values))


@given(
    st.sampled_from(["text", "cell", "sampling", "network"]),
    st.dictionaries(
        st.sampled_from(["catalogue", "files", "content", "options", "address", "index", "seed", "pushed"]),
        PLAIN,
    ),
)
def test_any_inner_values_are_a_scene_or_a_sentence(name, values):
    is_scene_or_sentence(changed(**{name: values}))


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["address", "kind", "value", "where", "label"]), PLAIN), max_size=2
    )
)
def test_any_surgery_is_a_scene_or_a_sentence(entries):
    is_scene_or_sentence(
        changed(surgery=[{"address": "a", "kind": "scale", "where": {}} | one for one in entries])
    )


def test_files_are_named_from_where_the_scene_is(tmp_path):
    folder = tmp_path / "lecture"
    assert named_from(folder / "texts" / "a.txt", folder) == "texts/a.txt"
    assert named_from(tmp_path / "runs" / "b", folder) == "../runs/b"
    for path in (folder / "texts" / "a.txt", tmp_path / "runs" / "b"):
        assert found_from(named_from(path, folder), folder) == path


def test_scenes_are_known_by_their_names():
    assert is_scene(Path("a/Night.LMVIZ"))
    assert not is_scene(Path("a/night.json"))
    assert np.all([not is_scene(Path(name)) for name in ("a.txt", "lmviz", ".lmviz/a")])
