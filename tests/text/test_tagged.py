from lmviz.text.tagged import TaggedCollector, read_columns, read_conllu, read_slashes
from lmviz.text.task_text import Complaints

CONLLU = """# sent_id = 1
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_
5.1\tvamos\tir\tVERB\t_\t_\t_\t_\t_\t_
6\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

# sent_id = 2
1\t1 000\t1000\tNUM\t_\t_\t0\troot\t_\t_
2\t#\t#\tSYM\t_\t_\t1\tnmod\t_\t_
"""


def read(reader, text: str):
    found, complaints = TaggedCollector(), Complaints()
    reader(text.encode(), found, complaints)
    result = found.finish("any")
    tags = [[result.labels[id] for id in answer] for answer in result.answers]
    return list(result.sources), tags, complaints.sentences


def test_conllu_gives_words_and_tags_without_ranges_and_empty_nodes():
    sentences, tags, complaints = read(read_conllu, CONLLU)
    assert sentences == ["Vamos nos a el mar .", "1_000 #"]
    assert tags == [["VERB", "PRON", "ADP", "DET", "NOUN", "PUNCT"], ["NUM", "SYM"]]
    assert complaints == ()


def test_a_malformed_row_is_named_and_the_others_are_kept():
    rows = [
        "1\ta\t_\tDET" + "\t_" * 6,
        "2\tb\t_\tNOUN",
        "x\tb\t_\tNOUN" + "\t_" * 6,
        "3\tc\t_\t_" + "\t_" * 6,
    ]
    rows += ["4\t\t_\tNOUN" + "\t_" * 6, "5\td\t_\tVERB" + "\t_" * 6, "1\te\t_\tDET" + "\t_" * 6]
    sentences, _, complaints = read(read_conllu, "\n".join(rows))
    assert sentences == ["a d", "e"]  # the second begins although no blank line says so
    assert complaints == (
        "Line 2 has 4 columns in place of 10.",
        "Line 3 begins with 'x' in place of the number of a word.",
        "Line 4 has no tag in its column UPOS.",
        "Line 5 has no word in its column FORM.",
    )


def test_two_columns_by_tabs_or_spaces():
    for mark in ("\t", "  ", " "):
        text = f"time{mark}n\nflies{mark}v\n\nlike\nan{mark}d\n{mark}\nx{mark}y{mark}z\n"
        sentences, tags, complaints = read(read_columns, text)
        assert sentences == ["time flies", "an"]
        assert tags == [["n", "v"], ["d"]]
        assert complaints == (
            "Line 4 has 1 column in place of a word and its tag.",
            "Line 7 has 3 columns in place of a word and its tag.",
        )


def test_tags_behind_a_slash():
    text = "time/n flies/v\n\n1/2/num ⟨x⟩/sym\nlike an/d\n/d time/n\nwith/p you/n\n"
    sentences, tags, complaints = read(read_slashes, text)
    assert sentences == ["time flies", "1/2 <x>", "with you"]
    assert tags == [["n", "v"], ["num", "sym"], ["p", "n"]]
    assert complaints == ("Line 4 has no word and tag in 'like'.", "Line 5 has no word and tag in '/d'.")


def test_labels_are_numbered_by_how_often_they_occur():
    found, complaints = TaggedCollector(), Complaints()
    read_slashes(b"a/x b/z c/y d/y\ne/z f/y\n", found, complaints)
    assert found.finish("any").labels == ("y", "z", "x")


def test_of_many_complaints_the_first_are_told_and_the_others_counted():
    _, _, complaints = read(read_slashes, "a/b\n" + "word\n" * 80)
    assert len(complaints) == 51
    assert complaints[0].startswith("Line 2 ")
    assert complaints[-1] == "And 30 more."
