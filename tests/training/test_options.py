import subprocess
import sys

import pytest

from lmviz.base.errors import SettingError
from lmviz.tasks import TASKS
from lmviz.training.options import COUNTED, TrainingOptions, used_options


def test_every_option_explains_itself_in_a_sentence() -> None:
    for option in TrainingOptions.settings():
        assert option.help.endswith("."), option.name
        assert len(option.help) > 30, option.name


def test_options_survive_a_round_trip_through_text() -> None:
    options = TrainingOptions(steps=5, optimizer="sgd", learning_rate=0.5, sampling="streams")
    as_text = {name: str(value) for name, value in options.to_values().items()}
    assert TrainingOptions.from_values(as_text) == options


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 0),
        ("batch", 0),
        ("optimizer", "lion"),
        ("learning_rate", -1),
        ("learning_rate", float("nan")),
        ("momentum", 1.0),
        ("snapshots", 1),
        ("device", "tpu"),
        ("seed", -1),
    ],
)
def test_impossible_values_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(SettingError, match=" must be ") as refused:
        TrainingOptions.from_values({name: value})
    assert refused.value.settings == (name,)


def test_an_option_is_of_use_where_another_one_asks_for_it_and_to_who_learns_by_it() -> None:
    used = used_options(TrainingOptions(optimizer="sgd", schedule="constant"), counts=False)
    assert {"steps", "learning_rate", "batch"} <= used
    assert not used & {"warmup", "final_rate", "weight_decay", "momentum", "second_moment_decay"}
    assert {"warmup", "momentum", "weight_decay"} <= used_options(
        TrainingOptions(optimizer="adamw", schedule="cosine"), counts=False
    )
    assert used_options(TrainingOptions(), counts=True) == set(COUNTED)
    by_task = {task: used_options(TrainingOptions(), counts=False, task=task) for task in TASKS}
    idle = {task: by_task["next-token"] - used for task, used in by_task.items()}
    assert idle == {
        "next-token": set(),
        "tagging": {"sampling"},
        "classification": {"sampling"},
        "translation": {"sampling", "watched_text", "watched_word"},
        "captioning": {"sampling", "length", "watched_text", "watched_word"},
    }


def test_runs_can_be_listed_and_forms_be_built_without_torch() -> None:
    names = "options", "run", "progress", "controls", "schedules", "description"
    imports = "; ".join(f"import lmviz.training.{name}" for name in names)
    subprocess.run(
        [sys.executable, "-c", f"import sys; {imports}; sys.exit('torch' in sys.modules)"], check=True
    )
