"""How the conditions of lesson 11 are brought about."""


def widen(driver):
    """Give the states of the encoder a third number, and W a third row."""
    editor = driver.control("autodiff_editor")
    program = editor.toPlainText()
    for old, new in (("[1 0; 0 1; 1 1]", "[1 0 0; 0 1 0; 1 1 0]"), ("[0 1; 1 0]", "[0 1; 1 0; 0 0]")):
        assert old in program
        program = program.replace(old, new)
    editor.setPlainText(program)


ACTS = {
    'network("encoder", 0, 2) = 0': widen,
    'control("worst_translation") contains worst': lambda driver: driver.press("quality_button"),
}
