"""How the conditions of lesson 9 are brought about."""


def triple(driver):
    """Write three times the U that stands in the program."""
    editor = driver.control("autodiff_editor")
    assert "U = 0.9" in editor.toPlainText()
    editor.setPlainText(editor.toPlainText().replace("U = 0.9", "U = 2.7"))


ACTS = {'network("U") = 2.7': triple}
