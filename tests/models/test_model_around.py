"""A model around another one is that model in all that it does not change."""

import ast
import inspect
import re
from pathlib import Path

import pytest
import torch
from family_cases import each_family_and_each_task, rows_beside, source_of, translates, untrained

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.interventions import scale
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.model_around import OWN, ModelAround

IDS = torch.tensor([[1, 3, 0, 2]])
ASKED = ("parameter_count", "state", "reading_state", "stages", "tensors")
DRAWN_ONLY = {"looks"}
"""Members that make pictures, whose numbers are those of the others."""

properties = [name for name, value in inspect.getmembers(Model) if isinstance(value, property)]


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
    return one == other


@each_family_and_each_task
def test_what_changes_nothing_is_the_other_in_everything(family, options):
    model = untrained(family, options)
    around = ModelAround(model)
    for name in {*properties, *Model.__annotations__} - OWN - DRAWN_ONLY:
        assert getattr(around, name) == getattr(model, name), name
    for name in ASKED:
        assert same(getattr(around, name)(), getattr(model, name)()), name
    assert [tap.address for tap in around.taps()] == [tap.address for tap in model.taps()]
    further = rows_beside(model, 1)
    logits = around(IDS, **further), model.listen(IDS, lambda tap, value, position: value, **further)
    assert torch.equal(*logits)
    assert [name for name, _ in around.named_parameters()] == [name for name, _ in model.named_parameters()]
    assert all(one is other for one, other in zip(around.holders(), model.holders(), strict=True))


def test_whatever_a_model_says_of_itself_is_taken_over():
    model = untrained("gru", {})
    given = {"why_no_tokenizer": "no words", "checkpoint": Path("there"), "has_adapter": True, "name": "one",
             "documents": "line", "context": 7, "is_foreign": True, "fixed": frozenset({"a"})}  # fmt: skip
    for name, value in given.items():
        setattr(model, name, value)
    around = ChangedModel(model, ())
    assert {name: getattr(around, name) for name in given} == given
    model.step = 12
    assert around.step == 12


def test_a_model_without_words_that_is_changed_still_says_why_it_has_none():
    model = untrained("transformer", {})
    model.why_no_tokenizer = "Its folder has no tokenizer.json: put it there"
    with pytest.raises(LmvizError, match=r"no tokenizer\.json"):
        lmviz.trace(ChangedModel(model, [scale("layers/0/residual1", 0.5)]), "some text")


def test_one_with_a_settled_source_is_a_language_model_of_its_text():
    model = untrained("gru", {"task": "translation", "width": 4})
    given = GivenSource(model, source_of(model))
    assert translates(model)
    assert not translates(given)
    assert (model.task, given.task) == ("translation", "next-token")


def test_what_is_read_one_at_a_time_refuses_a_padded_batch():
    around = ModelAround(untrained("gru", {}))
    around(IDS, torch.tensor([4]))
    with pytest.raises(LmvizError, match="A changed model reads texts one at a time"):
        around(IDS, torch.tensor([3]))


def test_weights_that_are_exchanged_are_those_of_both():
    model, other = untrained("lstm", {}), untrained("lstm", {}, seed=1)
    around = ModelAround(model)
    around.exchange_state(other.state())
    assert same(model.state(), other.state())
    assert same(around.state(), other.state())


def test_every_class_that_stands_around_a_model_has_this_base():
    """A model that is made of a model delegates by its base, not by hand: nothing is forgotten then."""
    by_hand, is_model = [], re.compile(r"^class \w+\([^)]*\b(Neural)?Model\b", re.MULTILINE)
    sources = (path.read_text("utf-8") for path in Path(lmviz.__file__).parent.rglob("*.py"))
    for source in filter(is_model.search, sources):
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef) and is_model.match(ast.unparse(node)):
                made = [item for item in node.body if getattr(item, "name", "") == "__init__"]
                given = [one.annotation for item in made for one in item.args.args if one.annotation]
                if "Model" in map(ast.unparse, given) and node.name != ModelAround.__name__:
                    by_hand.append(node.name)
    assert by_hand == []
