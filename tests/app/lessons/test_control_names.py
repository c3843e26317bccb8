"""The list of control names, by which lessons are checked, is that of the window."""

import importlib.util
import sys
from pathlib import Path

from lmviz.app.window.main_window import MainWindow

SCRIPT = Path(__file__).parents[3] / "docs" / "write_controls.py"


def test_the_names_of_controls_are_written_down(window: MainWindow, monkeypatch) -> None:
    specification = importlib.util.spec_from_file_location("write_controls", SCRIPT)
    written = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "write_controls", written)
    specification.loader.exec_module(written)
    controls = written.found_controls(window)
    assert {panel.objectName() for panel in window.perspective.panels} <= {each.name for each in controls}
    for path, text in written.outputs(controls):
        assert rows(path.read_text("utf-8")) == rows(text), "write it again: python docs/write_controls.py"


def rows(text: str) -> set[str]:
    """The lines without what a control says, which some say only once something is open."""
    return {line.rpartition(" | ")[0] if line.startswith("| `") else line for line in text.splitlines()}
