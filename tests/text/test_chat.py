"""Chats as one text: what transformers makes of the same template, and nothing that does harm."""

import time
import tracemalloc

import pytest
from covering import parametrize_few
from foreign_tokenizers import END_OF_TURN, TEMPLATE, TURN, byte_pairs, write_tokenizer
from patience import patience

from lmviz.base.errors import LmvizError
from lmviz.interchange.tokenizer_files import read_tokenizer
from lmviz.text.chat import Turn, chat_text, system_text

SMOL = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA = (
    "{{- bos_token }}\n{%- if messages[0]['role'] == 'system' %}\n"
    "    {%- set system = messages[0]['content']|trim %}\n    {%- set messages = messages[1:] %}\n"
    "{%- else %}\n    {%- set system = '' %}\n{%- endif %}\n"
    "{{- '<|start|>system\n\n' + system + '<|eot|>' }}\n{%- for message in messages %}\n"
    "    {{- '<|start|>' + message['role'] + '\n\n' + message['content'] | trim + '<|eot|>' }}\n{%- endfor %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}"
    "{% generation %}{{ message['content'] | tojson }}{% endgeneration %}"
    "{% if loop.index > 3 %}{% break %}{% endif %}{% endfor %}{{ dict(a=1) }}"
)

CHATS = (
    [Turn("user", "  Who asks? ")],
    [Turn("system", "Be brief."), Turn("user", "Who?"), Turn("assistant", "I."), Turn("user", "“Zürich”")],
)


def tokenizer(folder, template, around=None):
    named = {"bos_token": TURN, "eos_token": END_OF_TURN}
    write_tokenizer(folder, byte_pairs(template=around), chat_template=template, **named)
    return read_tokenizer(folder, 300)


@pytest.mark.parametrize("template", [TEMPLATE, SMOL, LLAMA, GEMMA])
@pytest.mark.parametrize("turns", CHATS)
@pytest.mark.parametrize("answers", [True, False])
def test_it_is_what_transformers_makes(template, turns, answers, tmp_path):
    transformers = pytest.importorskip("transformers")
    found = tokenizer(tmp_path / "chat", template)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "chat")
    messages = [{"role": turn.role, "content": turn.text} for turn in turns]
    if template == GEMMA and turns[0].role == "system":
        with pytest.raises(LmvizError, match="System role not supported"):
            chat_text(found, turns, answers=answers)
        return
    expected = theirs.apply_chat_template(messages, tokenize=False, add_generation_prompt=answers)
    assert chat_text(found, turns, answers=answers) == expected


def test_a_start_is_put_in_front_once(tmp_path):
    found = tokenizer(tmp_path / "chat", LLAMA, around=(f"{TURN} $A", TURN))
    text = chat_text(found, CHATS[0])
    assert not text.startswith(TURN)
    assert found.encode_prefix(text).ids.tolist().count(found.start_id) == 1


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (SMOL, "You are a helpful AI assistant named SmolLM"),
        (TEMPLATE, ""),
        (LLAMA, ""),
        (GEMMA, None),
        ("{{ messages[-1]['content'] }}", None),
    ],
)
def test_what_the_system_says_where_nobody_does(template, expected, tmp_path):
    assert system_text(tokenizer(tmp_path / "chat", template)) == expected


DOUBLED = (
    "{%% set n = namespace(x=%s) %%}{%% for _ in range(60) %%}{%% set n.x = %s %%}{%% endfor %%}{{ n.x }}"
)
MUCH_OF_LITTLE = [
    *(f"{{{{ 'a'.{name}(300000000) }}}}" for name in ("center", "ljust", "rjust", "zfill")),
    *(f"{{{{ 'a' | {name}(300000000) }}}}" for name in ("center", "indent", "wordwrap")),
    "{{ ['a'] | map('center', 300000000) | list }}",
    "{{ [['a']] | map('join', '') | map('indent', 300000000, true) | list }}",
    "{{ '\\t'.expandtabs(300000000) }}",
    "{{ '%300000000d' % 1 }}",
    "{{ '%*d' % (300000000, 1) }}",
    "{{ '%300000000d' | format(1) }}",
    "{{ '{:300000000}'.format(1) }}",
    "{{ '{:{}}'.format(1, 300000000) }}",
    "{{ [1] | tojson(indent=300000000) }}",
    "{{ 1.5 | round(300000000) }}",
    "{% set a = 'a' * 9999 %}{{ a.replace('a', a) }}",
    "{% set a = 'a' * 9999 %}{{ a | replace('a', a) }}",
    "{% set a = 'a' * 9999 %}{{ a.join(a) }}",
    "{% set a = 'a' * 9999 %}{{ a | join(a) }}",
    DOUBLED % ("'a'", "n.x ~ n.x"),
    DOUBLED % ("'a'", "n.x + n.x"),
    DOUBLED % ("[1]", "n.x + n.x"),
    DOUBLED % ("[1]", "[n.x, n.x]"),
    DOUBLED % ("[1]", "{'a': n.x, 'b': n.x}"),
    DOUBLED % ("9", "n.x * n.x"),
    "{% set n = namespace(x='a') %}{% for _ in range(60) %}{% set y %}{{ n.x }}{{ n.x }}{% endset %}"
    "{% set n.x = y %}{% endfor %}",
    "{% set n = namespace(x=[]) %}{% for _ in range(99) %}{% set n.x = n.x + ['a' * 9999999] %}{% endfor %}",
    "{{ lipsum(300000000) }}",
]


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{{ 'a' * 999 }}{% endfor %}",
        "{{ 'a' * 999999999999 }}",
        "{{ 9 ** 99999999 }}",
        "{{ [0] * 99999999 }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}{{ os.getcwd() }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ nothing.at.all }}",
        "{% if %}",
        "{{ 1 / 0 }}",
        "{{ '%s' | format(1, 2) }}",
        "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    ],
)
def test_nothing_of_a_template_does_harm(template, tmp_path):
    found = tokenizer(tmp_path / "chat", template)
    began = time.monotonic()
    with pytest.raises(LmvizError, match=r"^The template for chats .*: type plain text\.$") as caught:
        chat_text(found, CHATS[0])
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 20 * patience()


@parametrize_few("template", MUCH_OF_LITTLE, quick=len(MUCH_OF_LITTLE) - 2)  # those take until the time is up
def test_a_template_makes_little_of_little(template, tmp_path):
    found = tokenizer(tmp_path / "chat", template)
    tracemalloc.start()
    try:
        with pytest.raises(LmvizError, match="The template for chats"):
            chat_text(found, CHATS[0])
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()


def test_a_model_without_a_template(tmp_path):
    write_tokenizer(tmp_path / "chat", byte_pairs())
    with pytest.raises(LmvizError, match="no template"):
        chat_text(read_tokenizer(tmp_path / "chat", 300), CHATS[0])
