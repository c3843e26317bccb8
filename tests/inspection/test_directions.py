"""An explanation of what reads both directions has its terms from the left and from the right."""

import pytest

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.directions import by_direction
from lmviz.inspection.explain import explain
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import RULES
from lmviz.tasks import TASKS

WIDTH = 4


@pytest.mark.parametrize("task", ["tagging", "classification"])
def test_joined_terms_are_grouped_by_direction_and_give_the_same_value(task):
    configuration = FAMILIES["gru"].configuration(width=WIDTH, direction="both", pooling="mean")
    model = build_model("gru", configuration, 5, 0, TASKS[task].predicts(("noun", "verb"))).eval()
    found = trace(model, [1, 2, 3])
    whole = explain(model, found, "logits", (1,) if task == "classification" else (2, 1))
    grouped = by_direction(whole, found)
    assert [group.label for group in grouped.terms] == ["from the left", "from the right", "bias"]
    assert [len(group) for group in grouped.terms] == [WIDTH, WIDTH, 1]
    left, right, _ = grouped.terms
    source = "pooled" if task == "classification" else "layers/0/joined"
    values = found[source].array if task == "classification" else found[source].array[2]
    assert left.factors[0].values == pytest.approx(values[:WIDTH])
    assert right.factors[0].values == pytest.approx(values[WIDTH:])
    assert grouped.evaluate() == pytest.approx(whole.evaluate())
    assert [group.side for group in grouped.terms] == ["left", "right", ""]


def test_what_each_side_adds_is_said_above_its_largest_terms():
    configuration = FAMILIES["gru"].configuration(width=WIDTH, direction="both")
    model = build_model("gru", configuration, 5, 0, TASKS["tagging"].predicts(("noun", "verb"))).eval()
    found = trace(model, [1, 2, 3])
    grouped = by_direction(explain(model, found, "logits", (2, 1)), found)
    sheet = RULES["sum"].sheet(grouped.terms, lambda source, index: str(index[-1]), 6)
    sides, bias = sheet.lines[:-1], sheet.lines[-1]
    assert bias.side == ""
    for number, group in enumerate(grouped.terms[:2]):
        heading, *below = [line for line in sides if line.side == group.side]
        assert (heading.name, heading.heads) == (group.label, True)
        assert heading.value == pytest.approx(group.products.sum())
        assert [line.name for line in below][-1] == "2 others"
        assert {int(line.name) // WIDTH for line in below[:-1]} == {number}
        assert sum(line.value for line in below) == pytest.approx(heading.value)
    assert sum(line.value for line in (*sides, bias) if line.heads) + bias.value == pytest.approx(
        grouped.evaluate()
    )


@pytest.mark.parametrize("address", ["layers/0/forward/update", "layers/0/backward/update"])
def test_what_reads_no_joined_state_stays_as_it_is_however_wide(address):
    configuration = FAMILIES["gru"].configuration(width=WIDTH, embedding=2 * WIDTH, direction="both")
    model = build_model("gru", configuration, 5, 0, TASKS["tagging"].predicts(("noun", "verb"))).eval()
    found = trace(model, [1, 2, 3])
    assert found["embedding"].shape[-1] == found["layers/0/joined"].shape[-1]
    whole = explain(model, found, address, (1, 0))
    assert by_direction(whole, found).terms == whole.terms


def test_an_explanation_of_one_direction_stays_as_it_is():
    configuration = FAMILIES["gru"].configuration(width=WIDTH)
    model = build_model("gru", configuration, 5, 0).eval()
    found = trace(model, [1, 2, 3])
    whole = explain(model, found, "logits", (2, 1))
    assert [group.label for group in by_direction(whole, found).terms] == [g.label for g in whole.terms]
