"""How the conditions of lesson 10 are brought about."""

import re


def bias(numbers):
    """Write another bias of the forget gate into the program."""

    def write(driver):
        editor = driver.control("autodiff_editor")
        written, changed = re.subn(r"bf = \[.*\]", f"bf = {numbers}", editor.toPlainText())
        assert changed == 1
        editor.setPlainText(written)

    return write


ACTS = {'network("f", 0) > 0.999': bias("[40; 40]"), 'network("bf", 0) = 3': bias("[3; 3]")}
