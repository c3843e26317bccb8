"""A plan for examples describes the run that learned from them, though that took sentences for excerpts."""

from lmviz.families import FAMILIES
from lmviz.runs.further import is_planned_by
from lmviz.training.description import RunDescription
from lmviz.training.options import TrainingOptions


def test_the_same_plan_goes_on_with_a_tagger_and_another_begins_anew():
    configuration = FAMILIES["gru"].configuration(width=4).to_values()
    ran = TrainingOptions(sampling="sentences").to_values()
    run = RunDescription("run", "gru", configuration, 7, ran, task="tagging", labels=("n", "v"))
    assert is_planned_by(run, "gru", configuration, TrainingOptions())
    assert not is_planned_by(run, "gru", configuration, TrainingOptions(batch=3))
    plain = RunDescription("run", "gru", configuration, 7, ran)
    assert not is_planned_by(plain, "gru", configuration, TrainingOptions())
