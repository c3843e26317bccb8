"""Pairs as other programs write them: ||| between the sides, TMX, and the files of OPUS."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text.corpus import Corpus, load_corpus
from lmviz.text.preview import look
from lmviz.text.translation_memory import find_memory, read_memory

PAIRS = [
    (f"Ada sees the {thing} .", f"Ada sieht {other} .")
    for thing, other in zip("abcdefg", "tuvwxyz", strict=True)
]
HEADER = '<?xml version="1.0" encoding="{0}"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'


def unit(source: str, target: str, *more: str) -> str:
    sides = [("en", source), ("de", target), *(("fr", text) for text in more)]
    return (
        "<tu>"
        + "".join(f'<tuv xml:lang="{name}"><seg>{text}</seg></tuv>' for name, text in sides)
        + "</tu>\n"
    )


def memory(encoding: str = "UTF-8", begin: str = "", more: str = "") -> str:
    head = HEADER.format(encoding).replace("<tmx", begin + "<tmx")
    return head + "".join(unit(*pair) for pair in PAIRS) + more + "</body></tmx>\n"


def opened(folder: Path, name: str, content: str | bytes, **settings) -> Corpus:
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    return load_corpus(folder / name, validation=0.0, **settings)


def pairs_of(corpus: Corpus) -> list[tuple[str, str]]:
    examples = corpus.training_examples
    assert examples is not None
    assert examples.texts is not None
    return list(zip(corpus.training_documents, examples.texts, strict=True))


def test_three_bars_are_between_a_source_and_its_target(tmp_path: Path) -> None:
    corpus = opened(tmp_path, "train.txt", "".join(f"{a} ||| {b}\n" for a, b in PAIRS))
    assert corpus.task == "translation"
    assert pairs_of(corpus) == PAIRS
    assert corpus.recognised == "Lines with |||: 7 pairs."


def test_of_further_parts_the_first_two_are_read_and_a_line_without_is_named(tmp_path: Path) -> None:
    content = "".join(f"{a} ||| {b} ||| 0.5 0.1 ||| 0-0\n" for a, b in PAIRS * 4) + "alone\n"
    corpus = opened(tmp_path, "phrases.txt", content)
    assert pairs_of(corpus) == PAIRS * 4
    assert corpus.complaints[0] == "Line 29 has not a source and a target with 3 times ||| between them."
    assert corpus.complaints[1] == "2 columns are not read: column 3 (0.5 0.1), column 4 (0-0)."
    offer = look(tmp_path / "phrases.txt")
    assert offer is not None
    assert offer.asks


def test_bars_in_a_prose_are_no_pairs(tmp_path: Path) -> None:
    corpus = opened(
        tmp_path, "prose.txt", "It rained ||| and rained.\nAll day long.\nNothing else came.\n" * 5
    )
    assert corpus.task == "next-token"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (memory(), "plain"),
        (memory().replace("\n", ""), "on one line"),
        (memory(begin='<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<!-- made by hand -->\n'), "a type"),
        (memory().replace("xml:lang", "lang"), "older"),
        (memory().replace('"en"', '"EN-US"'), "a country"),
        (memory("UTF-16").encode("utf-16"), "UTF-16"),
        (
            memory().replace("sees", '<bpt i="1">&lt;b&gt;</bpt><hi>sees</hi><ept i="1">&lt;/b&gt;</ept>'),
            "code",
        ),
        (memory().replace("<tuv", '<prop type="x">y</prop><note>n</note><tuv'), "notes"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_a_translation_memory_is_pairs(content: str | bytes, name: str, tmp_path: Path) -> None:
    corpus = opened(tmp_path, "any.tmx", content)
    assert corpus.task == "translation"
    assert pairs_of(corpus) == PAIRS
    assert corpus.recognised.startswith("TMX: 7 pairs. The source is in ")


def test_of_three_languages_the_first_two_are_offered_and_others_can_be_told(tmp_path: Path) -> None:
    content = memory(more="".join(unit("dog", "Hund", "chien") for _ in range(2)))
    corpus = opened(tmp_path, "three.tmx", content)
    assert len(pairs_of(corpus)) == 9
    offer = look(tmp_path / "three.tmx")
    assert offer is not None
    assert offer.asks
    french = load_corpus(tmp_path / "three.tmx", validation=0.0, columns="source=fr,target=en")
    assert pairs_of(french) == [("chien", "dog")] * 2
    assert french.complaints[0] == "Line 3 has a unit without fr."


def test_a_memory_whose_source_stands_second_is_turned_round(tmp_path: Path) -> None:
    corpus = opened(tmp_path, "german.tmx", memory().replace('srclang="en"', 'srclang="de"'))
    assert pairs_of(corpus) == [(target, source) for source, target in PAIRS]


BOMB = (
    '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>\n'
)


def test_entities_of_a_memory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LmvizError, match="defines entities of its own"):
        opened(tmp_path, "bomb.tmx", memory(begin=BOMB).replace("Ada", "&b;&c;"))


def test_many_comments_before_a_text_are_gone_through_once(tmp_path: Path) -> None:
    comments = "<!-- a note -->\n" * 60
    assert find_memory((comments + "# A title\n").encode(), force=False) is None
    assert pairs_of(opened(tmp_path, "noted.tmx", memory(begin=comments))) == PAIRS


def test_a_memory_that_is_cut_gives_its_whole_units_and_names_the_place(tmp_path: Path) -> None:
    whole = memory()
    corpus = opened(tmp_path, "cut.tmx", whole[: whole.rindex("<tu>") + 20])
    assert pairs_of(corpus) == PAIRS[:-1]
    assert "is not XML" in corpus.complaints[-1]


@given(st.text(st.sampled_from("<>/tuvseg&;=\"' xmlang:\n[]!ENTY"), max_size=60), st.integers(0, 300))
def test_any_xml_gives_records_or_a_reason(inner: str, place: int) -> None:
    whole = memory()
    data = (whole[:place] + inner + whole[place:]).encode()
    try:
        layout = find_memory(data, force=True)
    except LmvizError:
        return
    assert layout is not None
    for number, cells, reason in read_memory(data, layout):
        assert number >= 1
        assert reason or len(cells) == len(layout.names)


def test_a_folder_of_opus_is_two_languages_and_what_is_about_them_is_left_out(tmp_path: Path) -> None:
    for name, texts in (("Toy.de-en.en", [a for a, _ in PAIRS]), ("Toy.de-en.de", [b for _, b in PAIRS])):
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    (tmp_path / "Toy.de-en.xml").write_text("<?xml version='1.0'?><cesAlign/>\n", encoding="utf-8")
    (tmp_path / "Toy.de-en.ids").write_text("a.xml\tb.xml\t1\t1\n", encoding="utf-8")
    (tmp_path / "README").write_text("A toy corpus\n", encoding="utf-8")
    (tmp_path / "LICENSE").write_text("free\n", encoding="utf-8")
    corpus = load_corpus(tmp_path, validation=0.0)
    assert corpus.task == "translation"
    assert sorted(pairs_of(corpus)) in (sorted(PAIRS), sorted((b, a) for a, b in PAIRS))
    left_out = {said.partition(" ")[0] for said in corpus.complaints}
    assert left_out == {"LICENSE", "README", "Toy.de-en.ids", "Toy.de-en.xml"}
    offer = look(tmp_path)
    assert offer is not None
    assert offer.count == 7
    assert set(corpus.complaints) == set(offer.left_out)


def test_a_file_that_is_about_nothing_keeps_two_languages_from_being_pairs(tmp_path: Path) -> None:
    for name in ("a.en", "a.de", "other.xml"):
        (tmp_path / name).write_text("one\ntwo\n", encoding="utf-8")
    assert load_corpus(tmp_path).task == "next-token"


def test_pairs_with_a_licence_are_read_where_a_line_has_a_tab_more_or_no_target(tmp_path: Path) -> None:
    """As Tatoeba has them; what stands behind the licence is nothing of the pair."""
    rows = [
        f"{a}\t{b}\tCC-BY 2.0 (France) Attribution: tatoeba.org #{n} (nobody)"
        for n, (a, b) in enumerate(PAIRS * 4)
    ]
    rows[7], rows[9] = PAIRS[0][0], f"{rows[9]}\textra"
    corpus = opened(tmp_path, "tatoeba.txt", "\n".join(rows) + "\n")
    expected = [pair for n, pair in enumerate(PAIRS * 4) if n != 7]
    assert pairs_of(corpus) == expected
    assert corpus.complaints[0] == "Line 8 has not a source and a target with 2 tabs between them."


def test_numbers_behind_short_texts_are_asked_about(tmp_path):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    rows = [(words[n % 9], words[n // 9 % 9], words[(n * 5 + 1) % 9], n) for n in range(100, 160)]
    path = tmp_path / "numbers.tsv"
    path.write_text("".join(f"{a} {b} {c}\t{n}\n" for a, b, c, n in rows), encoding="utf-8")
    with pytest.raises(LmvizError, match="the numbers may be what is to be written"):
        load_corpus(path)
    assert load_corpus(path, task="translation").task == "translation"
    assert load_corpus(path, columns="text=1").task == "next-token"
    scores = tmp_path / "scores.tsv"
    scores.write_text("".join(f"{a} {b} {c}\t{n / 7:.3f}\n" for a, b, c, n in rows), encoding="utf-8")
    assert load_corpus(scores).task == "next-token", "broken numbers are scores"
