import contextlib
import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import run_python

from lmviz.base.errors import LmvizError
from lmviz.inspection import trace_file
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import paint_attention, scale_head, swap_tokens
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace


def test_what_is_saved_is_loaded_again(model, text, tmp_path):
    before = trace(model, text)
    before.save(tmp_path / "trace.npz")
    after = Trace.load(tmp_path / "trace.npz")
    for name in ("tokens", "text", "offsets", "family", "stages", "dropped", "name", "step"):
        assert getattr(after, name) == getattr(before, name)
    assert np.array_equal(after.ids, before.ids)
    assert list(after.arrays) == list(before.arrays)
    for address, traced in before.arrays.items():
        assert np.array_equal(after[address].array, traced.array)
        assert after[address].array.dtype == traced.array.dtype
        assert (after[address].axes, after[address].scale) == (traced.axes, traced.scale)
        assert not after[address].array.flags.writeable


def test_interventions_are_kept(a, text, tmp_path):
    model = a("transformer-learned-pre")
    painted = paint_attention(trace(model, text), 0, 1, query=3, key=1, weight=0.9)
    made = trace(model, text, interventions=[scale_head(1, 0), painted, swap_tokens(1, 2)])
    made.save(tmp_path / "trace.npz")
    assert Trace.load(tmp_path / "trace.npz").interventions == made.interventions


def test_numpy_alone_reads_arrays_under_their_addresses(a, text, tmp_path):
    made = trace(a("lstm"), text)
    made.save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz", allow_pickle=False) as file:
        assert file["tokens"].tolist() == list(made.tokens)
        assert np.array_equal(file["layers/0/hidden"], made["layers/0/hidden"].array)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(LmvizError, match=r"nothing\.npz"):
        Trace.load(tmp_path / "nothing.npz")


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_trace_or_a_sentence(tmp_path, data):
    (tmp_path / "any.npz").write_bytes(data)
    with pytest.raises(LmvizError):
        Trace.load(tmp_path / "any.npz")


@settings(max_examples=80)
@given(place=st.floats(0, 1), byte=st.integers(0, 255), length=st.floats(0, 1))
def test_a_damaged_trace_is_a_trace_or_a_sentence(a, text, tmp_path, place, byte, length):
    path = tmp_path / "damaged.npz"
    trace(a("rnn"), text, taps=["logits"]).save(path)
    data = bytearray(path.read_bytes())
    data[int(place * (len(data) - 1))] = byte
    path.write_bytes(bytes(data[: int(length * len(data)) + 1]) if byte % 2 else bytes(data))
    with contextlib.suppress(LmvizError):
        assert len(Trace.load(path)) > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"ids": [1]},
        {"taps": {"logits": [["position"], "signed"]}},
        {"taps": {"logits": [["position", "token"], "loud"]}},
        {"taps": {"hidden": [["position", "unit"], "signed"]}},
        {"tokens": ["one"], "ids": [1], "offsets": [[0, 1]]},
        {"stages": [{"title": "no more"}]},
        {"interventions": [{"address": 3}]},
        {"offsets": 7},
    ],
)
def test_a_description_that_does_not_fit_is_said(a, text, tmp_path, wrong):
    path = tmp_path / "wrong.npz"
    trace(a("rnn"), text, taps=["logits"]).save(path)
    with np.load(path) as file:
        members = dict(file)
    description = json.loads(str(members["description"]))
    members["description"] = np.array(json.dumps({**description, **wrong}))
    np.savez(path, **members)
    with pytest.raises(LmvizError, match=r"wrong\.npz|intervention"):
        Trace.load(path)


def test_pickles_are_never_read(tmp_path):
    path = tmp_path / "pickle.npz"
    np.savez(path, description=np.array([{"tokens": []}], dtype=object))
    with pytest.raises(LmvizError):
        Trace.load(path)
    with zipfile.ZipFile(path) as file:
        assert file.namelist() == ["description.npy"]


def test_a_small_file_that_unpacks_to_a_large_one_is_not_unpacked(a, text, tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    trace(a("rnn"), text, taps=["logits"]).save(path)
    monkeypatch.setattr(trace_file, "UNPACKED_FREELY", 1_000_000)
    assert len(Trace.load(path)) > 0
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("zeros.npy", bytes(3_000_000))
    with pytest.raises(LmvizError, match="unpack to 3 MB"):
        Trace.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_and_devices_are_no_traces(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(LmvizError, match=r"not an ordinary file|Is a directory"):
            Trace.load(path)


@settings(max_examples=60)
@given(
    address=st.sampled_from(["tokens", "logits", "layers/²/hidden", "layers/" + "9" * 5000, "", 3, None]),
    kind=st.sampled_from(["replace", "add", "bypass", "swap"]),
    value=st.sampled_from([0, [], [[1.0, 2], [3, 4]], 10**400, "x", None, {}, [[1], 2]]),
    place=st.sampled_from([1, -1, [1, 2], [[1]], 0.5, None, {"start": "x", "stop": 2, "step": None}])
    | st.fixed_dictionaries(
        {part: st.none() | st.floats() | st.integers() for part in ("start", "stop", "step")}
    ),
    label=st.sampled_from(["", "head", 3, None, ["x"]]),
)
def test_whatever_a_trace_was_changed_by_can_be_described(address, kind, value, place, label):
    values = {"address": address, "kind": kind, "value": value, "where": {"position": place}, "label": label}
    with contextlib.suppress(LmvizError):
        assert isinstance(Intervention.from_values(values).describe(), str)


def test_a_stored_trace_is_read_without_torch(a, text, tmp_path):
    path = tmp_path / "first_screen.npz"
    trace(a("transformer-learned-pre"), text).save(path)
    program = (
        "import sys\n"
        "from lmviz.inspection.attention import thumbnails\n"
        "from lmviz.inspection.head_badges import head_badges\n"
        "from lmviz.inspection.trace import Trace\n"
        "from lmviz.decoding.distribution import next_distribution\n"
        f"trace = Trace.load({str(path)!r})\n"
        "next_distribution(trace['logits'].array[-1]), thumbnails(trace), head_badges(trace)\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = run_python(program)
    assert done.returncode == 0, done.stderr
