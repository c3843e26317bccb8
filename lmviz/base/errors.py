"""The exceptions whose message is shown to the user."""

from lmviz.base.plain_text import on_one_line

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


class LmvizWarning(UserWarning):
    """One sentence about what a function has done otherwise than one may think."""

    def __init__(self, sentence: str) -> None:
        super().__init__(one_sentence(sentence))


class SettingError(LmvizError):
    """A sentence about settings of a configuration. `settings` are their names, the first one first."""

    def __init__(self, sentence: str, *settings: str) -> None:
        super().__init__(sentence)
        self.settings = settings


OUT_OF_MEMORY = (
    "allocate memory",
    "out of memory",
    "bad_alloc",
    "failed to map segment",
    "error return without exception set",
)
"""How torch, safetensors, the loader of libraries and, inside C code, Python itself say so."""


def is_out_of_memory(fault: BaseException) -> bool:
    """Whether something failed because there was no memory left for it."""
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, MemoryError) or any(words in str(cause) for words in OUT_OF_MEMORY):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
