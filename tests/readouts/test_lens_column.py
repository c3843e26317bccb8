"""One column of the Jacobian lens by forward mode, against the matrix that is fitted by going back."""

import numpy as np
import pytest
import torch
from small_models import shaken

from lmviz.families import FAMILIES
from lmviz.inspection.tracing import trace
from lmviz.readouts.fitting import fit_lens
from lmviz.readouts.lens_column import fit_column
from lmviz.readouts.passages import Passages

FITTED = (
    np.array([5, 2, 6, 1, 2, 3, 4, 4, 1]),
    np.array([5, 1, 3, 3, 2, 6]),
    np.array([5, 4, 2, 6, 6, 1, 2]),
)
PASSAGES = Passages(FITTED, (FITTED[0],))


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("rnn", {}),
        ("lstm", {}),
        ("gru", {}),
        ("transformer", {}),
        ("transformer", {"positions": "rotary", "norm_kind": "rms"}),
    ],
)
def test_a_column_is_the_matrix_times_the_state(family: str, settings: dict[str, object]) -> None:
    known = {
        name: value for name, value in settings.items() if name in FAMILIES[family].configuration.names()
    }
    model = shaken(family, **known)
    *_, lens = fit_lens(model, PASSAGES, "jacobian")
    found = trace(model, np.array([5, 3, 1, 6]))
    states = {place: found[place].array[-1] for place in lens.places}
    *_, column = fit_column(model, PASSAGES, states)
    assert column.passages == 3
    for place in lens.places[:-1]:
        expected = lens.carried(place, states[place])
        assert column.states[place] == pytest.approx(expected, rel=1e-5, abs=1e-5)
        assert 0 < column.errors[place] < 10
        carried = column.carrier()(place, torch.zeros(1, len(expected)))
        assert carried.numpy()[0] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_error_is_that_of_the_passages_columns() -> None:
    """The spread of the columns of single passages, by numpy."""
    model = shaken("gru")
    states = {place: found.array[-1] for place, found in trace(model, FITTED[1]).arrays.items()}
    *_, column = fit_column(model, PASSAGES, states)
    place, end = column.places[0], column.places[-1]
    parts = []
    for ids in FITTED:
        *_, lens = fit_lens(model, Passages((ids,), (ids,)), "jacobian")
        parts.append(lens.maps[place].astype(float))
    *_, lens = fit_lens(model, PASSAGES, "jacobian")
    alone = [part @ (states[place] - lens.means[place]) for part in parts]
    mean = np.mean(alone, axis=0)
    error = np.sqrt(np.var(alone, axis=0).sum() / (len(alone) - 1)) / np.linalg.norm(mean)
    assert column.errors[place] == pytest.approx(error, rel=1e-4)
    assert column.states[place] == pytest.approx(mean + lens.means[end], rel=1e-4, abs=1e-5)
