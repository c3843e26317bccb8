"""The exceptions whose message is shown to the user."""

from lmviz.plain_text import on_one_line

LONGEST = 800
"""The characters of a sentence that are shown."""

ENDING = 250
"""How many of them stand at its end, where the way out is."""


def one_sentence(text: str) -> str:
    """A sentence that may repeat anything, as it is shown: on one line, and not endless.

    What it repeats of a file may be of any length: the middle of a long sentence is left out.
    """
    told = on_one_line(text)
    return told if len(told) <= LONGEST else f"{told[: LONGEST - ENDING]} … {told[-ENDING:]}"


class LmvizError(Exception):
    """An error in one sentence for the user: what failed, why, and what to do.

    The command line prints the sentence and exits with 2; the window shows it beside the control
    that caused it. Anything else that is raised is a defect of lmviz.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(one_sentence(sentence))


class SettingError(LmvizError):
    """A sentence about settings of a configuration. `settings` are their names, the first one first."""

    def __init__(self, sentence: str, *settings: str) -> None:
        super().__init__(sentence)
        self.settings = settings
