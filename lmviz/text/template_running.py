"""Runs a template for chats; only in the process beside the program (`lmviz.base.side_process`)."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import Any

from jinja2 import Template

from lmviz.base.errors import LmvizError
from lmviz.text.template_sandbox import LONGEST_TEXT, TemplateSandbox


def answer(request: dict[str, Any]) -> str:
    """What the "template" writes with "values"; whatever it raises says why it cannot."""
    sandbox = TemplateSandbox()
    code = _compiled(request["template"])
    template = Template.from_code(sandbox, code, sandbox.make_globals(None))
    pieces: list[str] = []
    length = 0
    for piece in template.generate(**request["values"]):
        length += len(piece)
        if length > LONGEST_TEXT:
            raise LmvizError("it writes without end")
        pieces.append(piece)
    return "".join(pieces)


@lru_cache(maxsize=8)
def _compiled(template: str) -> CodeType:
    """A chat is written anew with every letter that is typed."""
    return TemplateSandbox().compile(template)
