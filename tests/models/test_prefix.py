import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.models.prefix import read_prefix


@pytest.fixture(scope="module")
def model():
    return build_model("ngram", FAMILIES["ngram"].configuration(order=2), 5, seed=0)


@pytest.mark.parametrize("ids", [[1, 4], (1, 4), np.array([1, 4], dtype=np.uint8)])
def test_ids_are_read_as_they_are(model, ids):
    assert read_prefix(model, ids).ids.tolist() == [1, 4]


@pytest.mark.parametrize(
    "given", [[1.5], ["x"], [True], None, 3, [[1], [2, 3]], [2**70], [2**63], [5], [-1], [], b"text"]
)
def test_what_is_no_row_of_ids_is_told(model, given):
    with pytest.raises(LmvizError):
        read_prefix(model, given)
