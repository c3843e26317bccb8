"""What the pages about Python show runs as it stands, and the reference names exactly what there is."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from examples import DOCS

import lmviz

REFERENCE = (DOCS / "reference.md").read_text(encoding="utf-8")


def run(page: str) -> dict[str, Any]:
    """All Python blocks of a page, one after the other; what they leave behind."""
    code = "\n".join(
        re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    )
    found: dict[str, Any] = {}
    exec(compile(code, page, "exec", dont_inherit=True), found)
    return found


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("guide"))
        return run("guide/python.md")


def test_a_cell_that_is_changed_moves_what_follows_alone(guide):
    assert (guide["moved"][:3] == 0).all()
    assert (guide["moved"][3:] > 0).all()


def test_heads_that_are_ablated_change_the_prediction(guide):
    model, story = guide["model"], guide["story"].format("brown")
    plain = lmviz.next_token(model, story).probability_of(guide["brown"])
    assert len(guide["without"]) == 12
    assert all(probability != plain for probability in guide["without"].values())


def test_a_patch_moves_the_colour_from_the_word_to_the_end(guide):
    patched, colour, last = guide["patched"], guide["colour"], guide["last"]
    assert patched[0, colour] > 2 * patched[0, last]
    assert patched[2, last] > 2 * patched[2, colour]


def test_the_lens_ends_with_what_the_model_predicts(guide):
    model, lens = guide["model"], guide["lens"]
    assert int(lens.ids[-1, 0, 0]) == lmviz.next_token(model, guide["first"].text).best


def test_the_page_about_time_says_how_far_a_gradient_reaches():
    found = run("guide/through-time.md")["found"]
    assert found.address == "layers/0/cell"
    assert found.relative[found.last] == 1
    assert 0.5 < found.factor < 1.2


def test_an_explained_gradient_comes_to_its_value(guide):
    found = guide["why"]
    assert found.value != 0
    assert found.evaluate() == pytest.approx(found.value, rel=1e-4)
    assert guide["by_position"][:-1].all()
    assert guide["by_position"][-1] == 0  # the last token is what was to be predicted


def test_an_explained_number_comes_to_its_value(guide):
    arithmetic = guide["arithmetic"]
    assert arithmetic.evaluate() == pytest.approx(arithmetic.value, abs=1e-4)
    assert any(factor.values.size for group in arithmetic.terms for factor in group.factors)


def test_beams_are_searched_and_models_compared(guide):
    assert guide["tree"].best.depth == 4
    assert len(guide["found"].largest(2)) == 2


def test_what_was_kept_is_found_again(guide):
    assert np.array_equal(guide["again"]["logits"].array, guide["first"]["logits"].array)
    assert guide["tokenizer"].tokens() == guide["model"].tokenizer.tokens()
    assert guide["same"].fingerprint == guide["corpus"].fingerprint


def test_a_model_is_saved_for_another_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("guide/checkpoints.md")
    again = lmviz.open_model(found["folder"])
    ours, theirs = (lmviz.next_token(model, "First").probabilities for model in (found["model"], again))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_add_k_divides_by_the_tokens_that_can_follow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("families/ngram.md")
    by_hand = (found["count"] + 1) / (found["total"] + found["followers"])
    assert found["trace"]["probabilities"].array[-1, found["corn"]] == pytest.approx(by_hand, rel=1e-6)
    assert by_hand == pytest.approx(5 / 426)
    assert found["followers"] == 415


def described() -> dict[str, str]:
    """The headings of the reference, each with its text."""
    parts = re.split(r"^### `(.*)`\n", REFERENCE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def spelt(name: str, function: Any) -> str:
    """A call as the reference writes it: without annotations, and without what Python gives by itself."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    return f"{name}{signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)}"


FUNCTIONS = [name for name in lmviz.__all__ if not inspect.isclass(getattr(lmviz, name))]
CLASSES = [name for name in lmviz.__all__ if inspect.isclass(getattr(lmviz, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_reference_states_every_function_as_it_is(name):
    assert spelt(f"lmviz.{name}", getattr(lmviz, name)) in described()


@pytest.mark.parametrize("name", CLASSES)
def test_the_reference_states_every_class_and_its_verbs_as_they_are(name):
    [said] = [text for heading, text in described().items() if heading == f"lmviz.{name}"]
    for call in re.findall(r"^\| `\.?(\w+)\(", said, flags=re.MULTILINE):
        member = getattr(getattr(lmviz, name), call)
        assert spelt(call, member) in said, call


def test_the_reference_names_nothing_else():
    names = {re.match(r"lmviz\.(\w+)", heading)[1] for heading in described()}
    assert names == set(lmviz.__all__)


def test_importing_lmviz_loads_neither_qt_nor_torch():
    import subprocess
    import sys

    code = (
        "import sys, lmviz; lmviz.zero('logits'), lmviz.Trace, lmviz.Tokenizer, lmviz.Run; dir(lmviz);"
        "print([name for name in sys.modules if name.split('.')[0] in ('torch', 'PySide6')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_four_sentences_are_read_as_the_page_about_tasks_says(capsys):
    found = run("guide/tasks.md")
    assert found["corpus"].task == "tagging"
    assert "who sees word: 90% right, 0.1648 nats per tag" in capsys.readouterr().out


def test_the_page_about_ones_own_training_records_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("guide/watching.md")
    recorded = lmviz.Run.open("runs/mine")
    assert recorded.snapshots() == [0, 1, 2, 4, 8, 16, 32, 64, 100]
    losses = [line["loss"] for line in recorded.metrics()]
    assert losses[-1] < losses[0] / 2
    assert len(lmviz.open_model("runs/mine", step=64).tokenizer.encode("the cat")) == 7
