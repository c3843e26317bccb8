"""Templates for chats that would hold or end the program: each is a sentence, in time and of little memory."""

# ruff: noqa: E501 (a template is one line)

import random
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from covering import others_slow
from foreign_tokenizers import END_OF_TURN, TURN
from patience import patience

from lmviz.base.errors import LmvizError
from lmviz.base.side_process import LONGEST_WAIT, SideProcess
from lmviz.text import chat
from lmviz.text.chat import Turn, chat_text
from lmviz.text.tokenizer import Tokenizer

SECONDS = 0.3  # of a core, instead of two
MOST_MEMORY = 300 * 2**20

NESTED = (
    "{%% set n = namespace(a=[], b=[]) %%}{%% for _ in range(60) %%}{%% set n.a = %s %%}{%% set n.b = %s %%}"
)
NESTED += "{%% endfor %%}{{ %s }}"
TWICE = ("[n.a, n.a]", "[n.b, n.b]")
KEYED = ("{'a': n.a, 'b': n.a}", "{'a': n.b, 'b': n.b}")
LONG = "{% set n = namespace(x=7) %}{% for _ in range(10) %}{% set n.x = n.x * n.x * n.x %}{% endfor %}"
BYTES = "{% set b = 'a'.encode() %}"
DEEP = 3000

HOSTILE = {
    "lists compared": NESTED % (*TWICE, "n.a == n.b"),
    "lists unequal": NESTED % (*TWICE, "n.a != n.b"),
    "lists in order": NESTED % (*TWICE, "n.a < n.b"),
    "a list in a list": NESTED % (*TWICE, "n.a in [n.b]"),
    "lists sorted": NESTED % (*TWICE, "[n.a, n.b] | sort"),
    "lists unique": NESTED % (*TWICE, "[n.a, n.b] | unique | list"),
    "the larger list": NESTED % (*TWICE, "[n.a, n.b] | max"),
    "a list counted": NESTED % (*TWICE, "[n.a].count(n.b)"),
    "a list looked for": NESTED % (*TWICE, "[n.a].index(n.b)"),
    "dictionaries compared": NESTED % (*KEYED, "n.a == n.b"),
    "a list written": NESTED % (*TWICE, "n.a | string"),
    "a list as JSON": NESTED % (*TWICE, "n.a | tojson"),
    "a list as a key": NESTED % ("(n.a, n.a)", "(n.b, n.b)", "{n.a: 1}"),
    "tuples hashed": NESTED % ("(n.a, n.a)", "(n.b, n.b)", "n.a in {n.b: 1}"),
    "long keys": "{% set n = namespace(x={}) %}{% for i in range(99999) %}{% set n.x = {'a' * 999 ~ i: n.x} %}{% endfor %}",
    "a quotient of long numbers": LONG + "{% for _ in range(99999) %}{{ (n.x ** 2) // n.x }}{% endfor %}",
    "quotients": LONG + "{% for _ in range(99999) %}{% set y = n.x // 3 %}{% endfor %}",
    "a power": "{{ 9 ** 9 ** 9 }}",
    "a power by a filter": "{{ 10 | float ** 400 }}",
    "a remainder": LONG + "{% for _ in range(99999) %}{% set y = n.x % 7 %}{% endfor %}",
    "a long number written": "{{ (10 ** 4000) | string }}",
    "shifted": "{{ (1).__lshift__(9999999999) }}",
    "many bytes": BYTES + "{{ b * 3000000000 }}",
    "bytes in the middle": BYTES + "{{ b.center(3000000000) }}",
    "bytes at the left": BYTES + "{{ b.ljust(3000000000) }}",
    "bytes filled": BYTES + "{{ b.zfill(3000000000) }}",
    "bytes with tabs": "{% set b = '\\t'.encode() %}{{ b.expandtabs(3000000000) }}",
    "bytes joined": "{% set b = ('a' * 99999).encode() %}{{ b.join([b] * 99999) }}",
    "bytes replaced": "{% set b = ('a' * 99999).encode() %}{{ b.replace('a'.encode(), b) }}",
    "a number as bytes": "{{ (1).to_bytes(3000000000, 'big') }}",
    "a number of bytes": "{{ (1).from_bytes(('a' * 9999999).encode(), 'big') }}",
    "the time": "{{ strftime_now('%Y' * 4999999) }}",
    "a wide time": "{{ strftime_now('%999999999Y') }}",
    "a break": "{% break %}",
    "a continuation": "{% continue %}",
    "a break of a macro": "{% for a in [1] %}{% macro b() %}{% break %}{% endmacro %}{{ b() }}{% endfor %}",
    "a macro of itself": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "macros of one another": "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
    "a loop of itself": "{% for a in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
    "a call of itself": "{% macro a() %}{% call a() %}{{ caller() }}{% endcall %}{% endmacro %}{{ a() }}",
    "many brackets": "{{ " + "[" * DEEP + "]" * DEEP + " }}",
    "many parentheses": "{{ " + "(" * DEEP + "1" + ")" * DEEP + " }}",
    "many conditions": "{% if a %}" * DEEP + "{% endif %}" * DEEP,
    "many loops": "{% for a in [1] %}" * DEEP + "{% endfor %}" * DEEP,
    "many signs": "{{ " + "-" * DEEP + "1 }}",
    "many denials": "{{ " + "not " * DEEP + "1 }}",
    "many sums": "{{ " + "1 + " * DEEP * 3 + "1 }}",
    "many filters": "{{ 1" + " | abs" * DEEP + " }}",
    "many names": "".join(f"{{% set a{i} = {i} %}}" for i in range(20_000)) + "{{ nothing() }}",
    "a long loop": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "long loops of C": "{% for a in range(99999) %}{% set b = range(99999) | list %}{% endfor %}",
    "ranges": "{{ range(10 ** 12) | list }}",
    "groups": "{{ range(99999) | groupby('a') | list }}",
    "URLs": "{{ ('http://' * 99999) | urlize }}",
    "words counted": "{{ ('a ' * 4999999) | wordcount ~ nothing() }}",
    "tags": "{{ ('<' * 9999999) | striptags ~ nothing() }}",
    "titles": "{{ ('a ' * 4999999) | title ~ nothing() }}",
    "splits": "{{ ('a ' * 4999999).split() }}",
    "parts": "{{ ('a ' * 4999999).partition(' ')[2].rsplit() | join('-') ~ nothing() }}",
    "lines": "{{ ('a\n' * 4999999).splitlines() | length ~ nothing() }}",
    "encoded": "{{ ('\\U0001f600' * 2499999).encode('utf-32') * 9 }}",
    "a cycle": "{% set n = namespace() %}{% set n.n = n %}{{ n == n.n or n.n.n.n() }}",
    "a joiner": "{% set j = joiner('a' * 9999999) %}{% for _ in range(99) %}{{ j() }}{% endfor %}",
    "a cycler": "{% set c = cycler('a' * 9999999) %}{% for _ in range(99) %}{{ c.next() }}{% endfor %}",
    "blocks": "{% block a %}{{ self.a() }}{% endblock %}",
    "bits": "{% for _ in range(99999) %}{{ (10 ** 1000).bit_count() }}{% endfor %}",
}  # fmt: skip
"""What a stranger may write, by what it does."""

IN_EVERY_CHECK = (
    *("lists compared", "quotients", "many bytes", "a number as bytes", "a wide time", "a break"),
    *("a macro of itself", "many brackets", "many conditions", "ranges"),
)


def with_template(template: str) -> Tokenizer:
    """A tokenizer of which only this is asked."""

    class Asked:
        chat_template = template
        named_tokens = {"bos_token": TURN, "eos_token": END_OF_TURN, "pad_token": ""}
        marks_boundaries = False

    return Asked()  # type: ignore[return-value]  # all that a chat reads of one


@pytest.fixture(scope="module")
def impatient() -> Iterator[SideProcess]:
    """Where templates run, with less time, and how much memory that took at most."""
    usual, chat.TEMPLATES = chat.TEMPLATES, SideProcess("lmviz.text.template_running", SECONDS)
    watching, most = threading.Event(), [0]

    def watch() -> None:
        while not watching.wait(0.002):
            try:
                said = Path(f"/proc/{chat.TEMPLATES.identity}/status").read_text()
                most[0] = max(most[0], 1024 * int(re.search(r"VmHWM:\s+(\d+)", said)[1]))
            except (OSError, TypeError):
                continue

    thread = threading.Thread(target=watch)
    thread.start()
    yield chat.TEMPLATES
    watching.set()
    thread.join()
    chat.TEMPLATES.close()
    chat.TEMPLATES = usual
    if sys.platform == "linux":
        assert 0 < most[0] < MOST_MEMORY, f"{most[0] / 2**20:.0f} MB"


def said_of(template: str) -> str:
    """What came of it: a text, or the sentence."""
    try:
        return chat_text(with_template(template), [Turn("user", "Who asks?")])
    except LmvizError as sentence:
        said = str(sentence)
    assert re.fullmatch(r"The template for chats .*: type plain text\.", said)
    return ""


@pytest.mark.parametrize("name", others_slow(HOSTILE, *IN_EVERY_CHECK))
def test_it_is_a_sentence_in_time(name: str, impatient: SideProcess) -> None:
    began = time.monotonic()
    said_of(HOSTILE[name])
    assert time.monotonic() - began < 2 * LONGEST_WAIT * patience()
    assert said_of("{{ messages[0].content }}") == "Who asks?", "the next one is answered"


PIECES = (
    "{% for m in messages %}", "{% endfor %}", "{{ m['content'] }}", "{% if loop.first %}", "{% else %}",
    "{% endif %}", "{% break %}", "{% continue %}", "{% set x = [1] %}", "{% set x = [x, x] %}",
    "{% set x = x * 99999 %}", "{% set x = x ~ x %}", "{{ x == x }}", "{% macro a(b) %}", "{% endmacro %}",
    "{{ a(a) }}", "{{ x | tojson }}", "{{ x.__class__ }}", "{{ 9 ** x }}", "{{ x // 3 }}", "{% generation %}",
    "{% endgeneration %}", "{{ raise_exception(x) }}", "{{ '%s' % x }}", "{{ x[::-1] }}", "{%- set ns = namespace(y=1) %}",
    "{% set ns.y = [ns.y, ns.y] %}", "{{ ns.y | length }}", "{{ strftime_now('%d') }}", "{% raw %}", "{% endraw %}",
    "{# a #}", "{{", "}}", "{%", "%}", "'", "\"", "(", ")", "[", "]", "|", "é", "\ud800", "\0", "0x1", "1e999", " ",
)  # fmt: skip


def fuzzed(number: int) -> str:
    """A template by chance; the same for the same number."""
    chance = random.Random(f"template {number}")
    pieces = chance.choices(PIECES, k=chance.randint(1, 14))
    if chance.random() < 0.3:
        text = "".join(pieces)
        place = chance.randrange(len(text) + 1)
        return text[:place] + chr(chance.randrange(1, 300)) + text[place + chance.randrange(3) :]
    return "".join(pieces)


def test_templates_by_chance_give_a_text_or_a_sentence(impatient: SideProcess) -> None:
    texts = [said_of(fuzzed(number)) for number in range(300)]
    assert any(texts)
    assert not all(texts)


@pytest.mark.slow
def test_very_many_templates_by_chance_give_a_text_or_a_sentence(impatient: SideProcess) -> None:
    for number in range(10_000):
        said_of(fuzzed(number))
