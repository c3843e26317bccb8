"""What `help` says of the public API begins with a noun."""

import inspect
import re

import lmviz

QUESTIONS = re.compile(r"(What|How|Where|Whether)\b")
"""Words that ask what a docstring should say. Of a property that is true or false, Whether is right."""


def test_a_public_docstring_says_what_something_is_and_asks_no_question():
    asking = []
    for name in lmviz.__all__:
        value = getattr(lmviz, name)
        is_code = inspect.isfunction(value) or isinstance(value, type)
        if is_code and QUESTIONS.match(inspect.getdoc(value) or ""):
            asking.append(name)
        for member, given in vars(value).items() if isinstance(value, type) else ():
            function = given.fget if isinstance(given, property) else getattr(given, "__func__", given)
            said = inspect.getdoc(function) if inspect.isfunction(function) else None
            asks = said is not None and QUESTIONS.match(said)
            if asks and asks.group(1) != "Whether" and not member.startswith("_"):
                asking.append(f"{name}.{member}")
    assert asking == []
