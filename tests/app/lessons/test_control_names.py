"""The list of control names, by which lessons are checked, is that of the window."""

import importlib.util
import sys
from pathlib import Path

from lmviz.app.window.main_window import MainWindow

PROMISED = {
    "prefix_edit",
    "corpus_open_button",
    "tokenizer_picker",
    "family_picker",
    "train_button",
    "pause_button",
    "stop_button",
    "step_button",
    "loss_plot",
    "snapshot_slider",
    "stage_previous",
    "stage_next",
    "attention_view",
    "state_view",
    "next_word_view",
    "temperature_spin",
    "top_k_spin",
    "top_p_spin",
    "sample_step_button",
    "sample_play_button",
    "compare_view",
    "source_edit",
    "gradient_switch",
    "through_time_view",
    "autodiff_editor",
    "tape_view",
    "tape_forward",
    "tape_backward",
    "nudge_view",
    "poll_view",
    "scale_view",
    "alignment_view",
    "quality_by_length_view",
    "changed_edit",
    "measure_picker",
    "patching_view",
    "attribution_view",
    "circuit_view",
    "heads_over_time_view",
    "heads_map",
    "lens_grid",
    "race_view",
    "add_lane_button",
    "fork_button",
    "table_preview",
    "special_tokens_switch",
}
"""Names that programs outside lmviz look for: they stay. Those of the panel of lessons are listed nowhere."""

SCRIPT = Path(__file__).parents[3] / "docs" / "write_controls.py"


def test_the_names_of_controls_are_written_down(window: MainWindow, monkeypatch) -> None:
    specification = importlib.util.spec_from_file_location("write_controls", SCRIPT)
    written = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "write_controls", written)
    specification.loader.exec_module(written)
    controls = written.found_controls(window)
    assert {panel.objectName() for panel in window.perspective.panels} <= {each.name for each in controls}
    assert {each.name for each in controls} >= PROMISED
    for path, text in written.outputs(controls):
        assert rows(path.read_text("utf-8")) == rows(text), "write it again: python docs/write_controls.py"


def rows(text: str) -> set[str]:
    """The lines without what a control says, which some say only once something is open."""
    return {line.rpartition(" | ")[0] if line.startswith("| `") else line for line in text.splitlines()}
