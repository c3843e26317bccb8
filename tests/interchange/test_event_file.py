"""Event files for TensorBoard, read by a reader of our own and, where it is installed, by its own."""

import math
import struct

import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.event_file import crc32c, record, write_events

LINES = [
    {"step": 0, "validation_loss": 4.5, "learning_rate": 0.001, "seconds": 0.5},
    {"step": 300, "loss": 3.25, "validation_loss": 3.5, "learning_rate": 0.0005, "seconds": 9.0},
]


def test_the_checksum_is_that_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720 and every table of check values
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, appendix B.4
    assert crc32c(b"") == 0


def unmasked(stored):
    turned = (struct.unpack("<I", stored)[0] - 0xA282EAD8) & 0xFFFFFFFF
    return ((turned >> 17) | (turned << 15)) & 0xFFFFFFFF


def messages(data):
    while data:
        length = struct.unpack("<Q", data[:8])[0]
        assert unmasked(data[8:12]) == crc32c(data[:8])
        message = data[12 : 12 + length]
        assert unmasked(data[12 + length : 16 + length]) == crc32c(message)
        yield message
        data = data[16 + length :]


def fields(message):
    """Pairs of number and value of a protocol buffer."""

    def number():
        nonlocal place
        found = shift = 0
        while True:
            byte = message[place]
            place += 1
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found

    place = 0
    while place < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
            continue
        size = {1: 8, 5: 4}.get(key & 7) or number()
        value = message[place : place + size]
        place += size
        yield key >> 3, struct.unpack({1: "<d", 5: "<f"}[key & 7], value)[0] if key & 7 != 2 else value


def test_every_number_of_a_line_is_a_curve(tmp_path):
    path = write_events(tmp_path / "curves.tfevents", LINES, began=1_700_000_000.0)
    assert "tfevents" in path.name
    first, *events = (dict(fields(message)) for message in messages(path.read_bytes()))
    assert first == {1: 1_700_000_000.0, 3: b"brain.Event:2"}
    assert [(event[1], event[2]) for event in events] == [(1_700_000_000.5, 0), (1_700_000_009.0, 300)]
    summaries = [[dict(fields(value)) for _, value in fields(event[5])] for event in events]
    names = [{value[1].decode(): value[2] for value in summary} for summary in summaries]
    assert names[0] == pytest.approx({"validation_loss": 4.5, "learning_rate": 0.001})
    assert names[1] == pytest.approx({"loss": 3.25, "validation_loss": 3.5, "learning_rate": 0.0005})


def test_a_long_message_has_a_length_of_several_bytes():
    assert next(messages(record(b"a" * 300))) == b"a" * 300


def test_what_four_bytes_cannot_hold_is_infinite_and_half_a_character_a_question_mark(tmp_path):
    lines = [{"step": 1, "loss": 1e39, "half \ud800": 10**300}]
    path = write_events(tmp_path / "out.tfevents", lines, began=0.0)
    [_, event] = (dict(fields(message)) for message in messages(path.read_bytes()))
    assert [dict(fields(value)) for _, value in fields(event[5])] == [
        {1: b"loss", 2: math.inf},
        {1: b"half ?", 2: math.inf},
    ]


def test_the_curves_of_a_run_are_converted(tmp_path):
    path = lmviz.convert("stories-gru", tmp_path / "out.tfevents")
    assert path.parent == tmp_path / "out.tensorboard"
    assert lmviz.convert("stories-gru", tmp_path / "out.tensorboard") == path
    steps = [dict(fields(message)).get(2, 0) for message in messages(path.read_bytes())][1:]
    assert steps == sorted(steps)
    assert len(steps) > 10


def test_without_curves_there_is_nothing_to_write(tmp_path):
    with pytest.raises(LmvizError, match="no curves to write"):
        write_events(tmp_path / "out.tfevents", [], began=0.0)


def test_tensorboard_reads_the_curves(tmp_path):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    path = write_events(tmp_path / "curves.tfevents", LINES, began=1_700_000_000.0)
    assert [event.step for event in loader.EventFileLoader(str(path)).Load()] == [0, 0, 300]


FOLDERS = ["curves", "curves.tensorboard", "curves.tfevents", "a tfevents b", "tfevents", ".tfevents"]


@pytest.mark.parametrize("name", FOLDERS)
def test_no_folder_is_taken_for_a_file(name, tmp_path):
    path = write_events(tmp_path / name, LINES, began=1_700_000_000.0)
    assert "tfevents" not in path.parent.name
    assert "tfevents" in path.name
    assert path.parent.parent == tmp_path


@pytest.mark.parametrize("name", FOLDERS)
def test_tensorboard_reads_the_folder(name, tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    written = write_events(tmp_path / name, LINES, began=1_700_000_000.0)
    found = events.EventAccumulator(str(written.parent)).Reload()
    numbers = {key for line in LINES for key, value in line.items() if type(value) in (int, float)}
    assert set(found.Tags()["scalars"]) == numbers - {"step", "seconds"}
    curve = [(event.step, event.value) for event in found.Scalars("loss")]
    assert curve == [(line["step"], pytest.approx(line["loss"])) for line in LINES if "loss" in line]
