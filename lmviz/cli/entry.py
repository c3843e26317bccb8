"""The entry point of the command line: its commands, and opening the window.

Results go to standard output, as text or, with --json, as one JSON object; everything else goes to
standard error. A user's mistake ends in one sentence and exit code 2.
"""

from __future__ import annotations

import difflib
import os
import signal
import sys
import warnings
from collections.abc import Sequence

import click

import lmviz
from lmviz.base.errors import LmvizError, LmvizWarning, is_out_of_memory
from lmviz.base.log import keep_log
from lmviz.cli.asking import evaluate, predict, sample, trace
from lmviz.cli.associating import associate
from lmviz.cli.converting import convert
from lmviz.cli.features import features
from lmviz.cli.lessons import lecture, lesson
from lmviz.cli.listing import corpora, doctor, families, models
from lmviz.cli.pages import page
from lmviz.cli.terminal import leave_output, prepare_streams, say
from lmviz.cli.training import train


def main() -> None:
    """The command `lmviz`."""
    prepare_streams()
    keep_log()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Do what the words after `lmviz` say; the exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LmvizWarning)
        warnings.showwarning = _show_warning
        return _run(arguments)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A sentence, without the place in the code."""
    say(str(message))


def _run(arguments: Sequence[str]) -> int:
    try:
        code = commands.main(list(arguments), prog_name="lmviz", standalone_mode=False) or 0
        sys.stdout.flush()  # so that an error is raised here, and not while Python ends
        return code
    except LmvizError as fault:
        say(str(fault))
        return 2
    except click.ClickException as fault:
        say(_sentence(fault))
        return 2
    except (KeyboardInterrupt, click.Abort):
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the program that read the output has closed the pipe
        leave_output()
        return 0
    except OSError as fault:
        if fault.filename is None:
            leave_output()
        what = fault.filename or "The output"
        say(f"{what} could not be used ({fault.strerror or fault}): check the free space and permissions.")
        return 2
    except Exception as fault:
        if not is_out_of_memory(fault):
            raise
        say("There is too little memory for that: close other programs, or choose something smaller.")
        return 2


def _sentence(fault: click.ClickException) -> str:
    """What was wrong with the words of a command, and where it says what they may be."""
    context = fault.ctx if isinstance(fault, click.UsageError) else None
    where = context.command_path.strip() if context else "lmviz"
    message = fault.format_message().rstrip(".")
    joint = " See" if message.endswith("?") else ": see"
    return f"{message}{joint} `{where} --help`."


class CommandGroup(click.Group):
    """The commands; a first word that is none of them is a path for the window."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None:
            return "", open_window, args  # not a command
        return super().resolve_command(ctx, args)


@click.group(cls=CommandGroup, invoke_without_command=True, subcommand_metavar="[PATH | COMMAND ...]")
@click.version_option(lmviz.__version__, message="lmviz %(version)s")
@click.pass_context
def commands(context: click.Context) -> int:
    """See a language model think, while it learns.

    Without a command the window opens, on PATH if there is one: a text, a run, a checkpoint of another
    program, a lesson, a lecture, a scene, a poll, a network, or a sample model by its name. A PATH that is
    spelled like a command is written ./PATH.
    """
    return context.invoke(open_window) if context.invoked_subcommand is None else 0


@click.command()
@click.argument("path", required=False)
def open_window(path: str | None = None) -> int:
    """Open the window, on a file of any kind that it knows, a folder, or a sample model."""
    from lmviz.api.training import find_run, sample_models

    if path is not None and not path.strip() and not os.path.exists(path):
        raise LmvizError(f"There is no file named {path!r}: leave it out, or name a text or a run.")
    if path is not None and not os.path.exists(path):
        if path not in sample_models():
            near = difflib.get_close_matches(path, [*commands.commands, *sample_models()], n=1)
            hint = f"did you mean {near[0]}?" if near else "`lmviz --help` lists the commands."
            raise LmvizError(f"There is no file, run or command {path!r}: {hint}")
        path = str(find_run(path))
    if path is not None:
        _check_can_be_opened(path)
    from lmviz.app.main import main as show

    return show(path)


def _check_can_be_opened(path: str) -> None:
    """Raise LmvizError for what is neither a file nor a folder that holds something."""
    from lmviz.text.ordinary_files import check_ordinary

    try:
        if not os.path.isdir(path):
            check_ordinary(path)
        elif not os.listdir(path):
            raise LmvizError(f"The folder {path} is empty: name a text, a run or a folder that holds one.")
    except OSError as fault:
        reason = fault.strerror or fault
        raise LmvizError(f"{path} cannot be opened ({reason}): name a text or a run.") from None


for command in (
    *(train, evaluate, predict, sample, trace, features, page, convert),
    *(models, corpora, families, doctor, lesson, lecture, associate),
):
    commands.add_command(command)
