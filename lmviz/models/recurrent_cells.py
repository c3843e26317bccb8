"""Which cell each recurrent family has."""

from __future__ import annotations

from lmviz.models.cell import Cell
from lmviz.models.gru import GRUCell
from lmviz.models.lstm import LSTMCell
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.recurrent_configuration import (
    GRUConfiguration,
    LSTMConfiguration,
    RecurrentConfiguration,
    RNNConfiguration,
)
from lmviz.models.rnn import RNNCell

CELLS: dict[type[RecurrentConfiguration], type[Cell]] = {
    RNNConfiguration: RNNCell,
    LSTMConfiguration: LSTMCell,
    GRUConfiguration: GRUCell,
}


def cell_of(configuration: RecurrentConfiguration, predicts: Prediction = NEXT_TOKEN) -> Cell:
    """The cell of the family that a configuration is of."""
    return CELLS[type(configuration)](configuration, predicts)
