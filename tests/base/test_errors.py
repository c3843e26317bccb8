import json

import pytest

from lmviz.base.configuration import Configuration
from lmviz.base.errors import LmvizError, SettingError
from lmviz.families import find_family
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.reading import check_encoding
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

LONG = "x" * 10_000


@pytest.mark.parametrize(
    "refused",
    [
        lambda: CorpusOptions(tokenizer=LONG),
        lambda: TrainingOptions.from_values({LONG: 1}),
        lambda: TrainingOptions(optimizer=LONG),
        lambda: check_encoding(LONG),
        lambda: find_family(LONG),
    ],
)
def test_a_sentence_does_not_repeat_all_of_a_long_value_and_keeps_its_way_out(refused):
    with pytest.raises(LmvizError) as caught:
        refused()
    sentence = str(caught.value)
    assert len(sentence) < 1000
    assert sentence.endswith(".")
    assert "xxx" in sentence
    assert " … " in sentence


def test_a_short_sentence_stays_as_it_is():
    assert str(LmvizError("It cannot be: choose another.")) == "It cannot be: choose another."


def test_a_sentence_holds_no_line_break_and_no_hidden_control_of_what_it_repeats():
    assert str(LmvizError("“a\r\nb\u2028c\u202ed” is no name.")) == "“a b c⟨U+202E⟩d” is no name."


def test_what_a_run_says_is_not_repeated_at_length(tmp_path):
    values = {"format": "lmviz run", "format_version": LONG}
    (tmp_path / "run.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(LmvizError) as caught:
        Run.open(tmp_path)
    assert len(str(caught.value)) < 1000
    assert str(caught.value).endswith("choose another run.")


@pytest.mark.parametrize(
    ("kind", "name", "number"),
    [(CorpusOptions, "seed", 10**400), (CorpusOptions, "seed", 2**63), (TrainingOptions, "clip", 10**400)],
    ids=["400 digits", "64 bits", "no float"],
)
def test_a_number_beyond_all_bounds_is_refused(kind: type[Configuration], name: str, number: int):
    with pytest.raises(SettingError) as caught:
        kind.from_values({name: number})
    assert caught.value.settings == (name,)
