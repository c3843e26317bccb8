"""The lines of a text as statements, the indented ones in their loops."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from lmviz.autodiff.language.faults import NetworkFault
from lmviz.autodiff.language.limits import CHARACTERS, DIGITS, LONGEST, STEPS
from lmviz.autodiff.language.parsing import parse_line
from lmviz.autodiff.language.scanning import without_comment
from lmviz.autodiff.language.syntax import Assignment, Loop, Statement
from lmviz.base.faults import Fault, LineFault

_NUMBER = re.compile(rf"(?<!\w)[+−-]?[0-9.][0-9.eE+-]{{0,{DIGITS - 2}}}")


def lines_of(source: str) -> list[str]:
    """The lines of a text, letters with their accents composed; NetworkFault where it is too long."""
    if not isinstance(source, str):
        raise NetworkFault([Fault(1, f"{source!r} is not a text: give a string.")])
    if len(source) > LONGEST or len(_NUMBER.sub("0", source)) > CHARACTERS:
        sentence = f"a text has at most {CHARACTERS:,} characters, each number counted as one."
        raise NetworkFault([Fault(1, sentence)])
    return unicodedata.normalize("NFC", source).replace("\r\n", "\n").split("\n")


def statements(source: str) -> tuple[list[Statement], list[Fault]]:
    """What a text says line by line, and what is wrong with single lines."""
    found: list[Statement] = []
    faults: list[Fault] = []
    has_failed = False  # whether the last line that is not indented has a fault: it may begin a loop
    for number, text in enumerate(lines_of(source), start=1):
        if not without_comment(text).strip():
            continue
        is_indented = text[:1].isspace()
        try:
            statement = parse_line(text, number)
            if not is_indented:
                has_failed = False
                found.append(_checked(statement))
            elif not has_failed:
                found[-1:] = [_in_loop(found[-1] if found else None, statement)]
        except LineFault as fault:
            has_failed = has_failed or not is_indented
            faults.append(Fault(number, fault.sentence))
    faults += [
        Fault(one.line, "the loop is empty: indent the lines that are repeated.")
        for one in found
        if isinstance(one, Loop) and not one.body and not any(fault.line > one.line for fault in faults)
    ]
    return found, sorted(faults, key=lambda fault: fault.line)


def _checked(statement: Statement) -> Statement:
    if isinstance(statement, Loop) and not 0 <= statement.last - statement.first < STEPS:
        raise LineFault(
            f"a loop counts upwards, at most {STEPS} times: this one goes from {statement.first} to "
            f"{statement.last}."
        )
    return statement


def _in_loop(above: Statement | None, statement: Statement) -> Loop:
    """The loop above with one more line."""
    if not isinstance(above, Loop):
        raise LineFault("the line is indented, but there is no loop above it.")
    if not isinstance(statement, Assignment):
        raise LineFault("a loop cannot be inside another loop.")
    return replace(above, body=(*above.body, statement))
