"""Numbers come out of a page as they went in, to the float32, or to the digits that are said."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from page_scripts import script_engine

from lmviz.pages.numbers import FEW, packed

FLOATS = arrays.arrays(np.float32, arrays.array_shapes(max_dims=3, max_side=7), elements=st.floats(width=32))


@pytest.fixture(scope="module")
def engine(qapp):
    return script_engine("numbers")


def unpacked(engine, packing) -> np.ndarray:
    """What the script of a page makes of it."""
    found = engine.evaluate(f"JSON.stringify(Array.from(unpacked({json.dumps(packing)}), (x) => String(x)))")
    assert not found.isError(), found.toString()
    values = [float(text.replace("Infinity", "inf")) for text in json.loads(found.toString())]
    return np.array(values).reshape(packing["shape"])


@given(FLOATS)
def test_float32_comes_back_bit_for_bit(engine, array):
    found = unpacked(engine, packed(array)).astype(np.float32)
    np.testing.assert_array_equal(found, array)


def test_a_triangle_is_handed_out_once(engine):
    weights = np.tril(np.random.default_rng(0).random((2, 9, 9), dtype=np.float32))
    packing = packed(weights)
    assert packing["triangle"] is True
    assert len(packing["float32"]) < 0.6 * len(packed(weights + np.float32(1))["float32"])
    np.testing.assert_array_equal(unpacked(engine, packing).astype(np.float32), weights)


def test_rounded_numbers_are_off_by_half_a_digit_at_most(engine):
    shares = np.random.default_rng(1).random((4, 30), dtype=np.float32)
    packing = packed(shares, digits=4)
    assert packing["digits"] == 4
    np.testing.assert_allclose(unpacked(engine, packing), shares, rtol=0, atol=0.5e-4 + 1e-9)


def test_whole_numbers_stay_whole(engine):
    ids = np.arange(2 * FEW).reshape(2, -1) * 1000
    assert "int32" in packed(ids)
    np.testing.assert_array_equal(unpacked(engine, packed(ids)), ids)


def test_few_numbers_can_be_read_by_a_person():
    assert packed(np.array([[0.1, np.nan], [np.inf, -2.0]], dtype=np.float32)) == {
        "shape": [2, 2],
        "values": [0.1, None, "inf", -2.0],
    }
