"""The script of pages without a page: Qt's engine runs it, which has no document and no network."""

from importlib.resources import files

from PySide6.QtQml import QJSEngine

ATOB = """
function atob(text) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  let bits = 0, held = 0, found = "";
  for (const letter of text.replace(/=/g, "")) {
    held = (held << 6) | letters.indexOf(letter);
    bits += 6;
    if (bits >= 8) { bits -= 8; found += String.fromCharCode((held >> bits) & 255); held &= (1 << bits) - 1; }
  }
  return found;
}
"""
"""What browsers have of their own."""


def script_engine(*names: str) -> QJSEngine:
    """An engine that has run these files of the script; it needs an application."""
    engine = QJSEngine()
    for program in (
        ATOB,
        *((files("lmviz.pages") / "script" / f"{name}.js").read_text("utf-8") for name in names),
    ):
        done = engine.evaluate(program)
        assert not done.isError(), done.toString()
    return engine
