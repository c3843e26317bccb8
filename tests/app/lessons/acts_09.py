"""How the conditions of lesson 9 are brought about."""


def triple(driver):
    """Write three times the U that stands in the program."""
    editor = driver.control("autodiff_editor")
    assert "U = 0.9" in editor.toPlainText()
    editor.setPlainText(editor.toPlainText().replace("U = 0.9", "U = 2.7"))


def pop_two_steps(driver):
    """Pop until the gradient has gone back two steps, and no further."""
    for _ in range(17):
        if driver.session.network.current["h[2]"].gradient is None:
            driver.press("tape_backward")


ACTS = {'network("U") = 2.7': triple, 'gradient("h[2]") > 0': pop_two_steps}
