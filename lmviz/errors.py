"""The exceptions that a person is meant to read."""


class LmvizError(Exception):
    """A failure told in one sentence: what it is about, why it failed, and the way out.

    The command line prints the sentence and exits with 2; the window shows it beside the control
    that caused it. Anything else that is raised is a defect of lmviz.
    """


class SettingError(LmvizError):
    """A sentence about settings of a configuration. `settings` are their names, the first one first."""

    def __init__(self, sentence: str, *settings: str) -> None:
        super().__init__(sentence)
        self.settings = settings
