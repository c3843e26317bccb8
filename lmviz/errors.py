"""The exceptions whose message is shown to the user."""

LONGEST = 800
"""The characters of a sentence that are shown."""

ENDING = 250
"""How many of them stand at its end, where the way out is."""


class LmvizError(Exception):
    """An error in one sentence for the user: what failed, why, and what to do.

    The command line prints the sentence and exits with 2; the window shows it beside the control
    that caused it. Anything else that is raised is a defect of lmviz. What a sentence repeats from a file
    may be of any length: the middle of a long one is left out.
    """

    def __init__(self, sentence: str) -> None:
        if len(sentence) > LONGEST:
            sentence = f"{sentence[: LONGEST - ENDING]} … {sentence[-ENDING:]}"
        super().__init__(sentence)


class SettingError(LmvizError):
    """A sentence about settings of a configuration. `settings` are their names, the first one first."""

    def __init__(self, sentence: str, *settings: str) -> None:
        super().__init__(sentence)
        self.settings = settings
