"""What the names of columns say: that one has texts, labels or a side of pairs, or is about the texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TEXT_NAMES = _words(
    "text texts content contents body document documents doc docs story stories article articles passage "
    "passages paragraph paragraphs inhalt texte contenu contenido conteúdo testo texto beitrag artikel "
    "markdown page pages"
)
"""Usual names of texts."""

SHORT_TEXT_NAMES = _words(
    "conversation conversations dialog dialogue turns chat sentence sentences review reviews message "
    "messages comment comments tweet tweets headline headlines  post  posts lyrics poem poems abstract "
    "abstracts transcript utterance utterances quote quotes joke  jokes verse  verses line lines code "
    "description caption captions phrase phrases email speech essay  recipe letter  raw chapter song"
)
"""Usual names of texts, which may also stand beside a longer one."""

FIRST_TEXT_NAMES = ("text", "texts", "content", "contents", "body", "document", "documents")
"""Those that are meant where several columns have a usual name, the surest first."""

WHOLE_TEXT_NAMES = frozenset(FIRST_TEXT_NAMES[:4])
"""Names of a column that is the whole text, whatever the others are."""

LABEL_NAMES = _words(
    "label labels class classes category sentiment polarity rating stars topic target intent emotion "
    "klasse kategorie etikett thema classe catégorie étiquette clase categoría etiqueta categoria"
)
SURE_LABEL_NAMES = _words("label labels class sentiment polarity")
"""Names that say that a column has labels, whatever stands in it."""

SOURCE_NAMES, TARGET_NAMES = _words("source src"), _words("target tgt trg")

PAIRED_NAMES = (
    (_words("instruction prompt question query input"), _words("output response answer completion reply")),
    (_words("document article dialogue"), _words("summary highlights tldr")),
    (_words("original complex informal normal"), _words("simple simplified formal paraphrase corrected")),
)
"""Names of two columns of which the second is written for the first."""

LANGUAGES = _words(
    "aa ab af ak an ar av ay az ba bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el "
    "en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi hr ht hu hy hz ia ig it ja jv ka kg "
    "ki kk kl km kn ko ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt na nb ne nl nn "
    "nv ny oc om os pa pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn sq sr ss st su sv sw ta "
    "te tg th ti tk tl tn tr ts tt tw ug uk ur uz vi wo xh yi yo za zh zu english german french spanish "
    "italian portuguese dutch russian chinese japanese czech polish turkish arabic korean swedish  danish "
    "finnish greek hebrew hindi hungarian romanian ukrainian vietnamese"
)
"""Languages by name and by ISO 639-1, but for id and for common English words, such as is and no."""

TEXTS_OF_ONE_LABEL = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("sentencea", "sentenceb"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("texta", "textb"),
    ("query", "document"),
    ("query", "passage"),
    ("question", "sentence"),
    ("question", "passage"),
    ("claim", "evidence"),
    ("title", "description"),
    ("title", "abstract"),
    ("headline", "body"),
)
"""Names, without what parts their words, of two texts that have one label together."""

LISTED_TEXT_NAMES = _words("tokens words token text sentence")
"""Names of texts whose words stand in a list."""

_ABOUT = _words(
    "id ids idx index key no nr number num uid uuid guid pk rank row hash md5 sha sha1 sha256 checksum "
    "digest  url urls uri link links href domain host site website path paths file files filename "
    "filepath repo  repository dump shard offset date dates time timestamp datetime day month year "
    "created updated modified  published added crawled at on count counts length len size bytes tokens "
    "chars characters words score  scores probability prob perplexity ppl weight confidence similarity "
    "quality likes votes upvotes  downvotes views shares retweets helpful language languages lang locale "
    "license licence copyright author  authors user username users userid name names title titles subject "
    "section heading keywords editor  publisher venue journal source sources origin provenance dataset "
    "subset split part fold version meta  metadata type format mime encoding unnamed status flag page_id "
    "isbn doi price age gender country city  region location latitude longitude ext extension genre "
    "creator owner speaker channel"
)
"""Names of what is known about a text: never a label or a side, and a text only where nothing else is."""

_COUNTS = _words("num n nb is has total avg mean max min count")
"""First parts of names such as num_tokens and is_retweet."""

_BETWEEN = re.compile(r"[._\s:/#-]+|(?<=[a-z])(?=[A-Z])")


def parts_of(name: str) -> list[str]:
    """The words of a name in small letters: `created_at`, `pub.date` and `articleId` have two each."""
    return [part.lower() for part in _BETWEEN.split(name.strip()) if part]


def is_about(name: str) -> bool:
    """Whether a column of such a name is about the texts: an id, an address, a date, a count."""
    parts = parts_of(name)
    return bool(parts) and (parts[-1] in _ABOUT or (len(parts) > 1 and parts[0] in _COUNTS))


def named(names: Sequence[str], known: Iterable[str]) -> list[int]:
    """The columns with one of the known names, or else those whose name ends in one: airline_sentiment."""
    wanted = frozenset(known)
    parts = [parts_of(name) for name in names]
    found = [place for place, words in enumerate(parts) if len(words) == 1 and words[0] in wanted]
    return found or [place for place, words in enumerate(parts) if words and words[-1] in wanted]


def languages(names: Sequence[str]) -> list[int]:
    """The columns that are named after a language, such as `de` or `translation.de`.

    Where fewer than two end in one, those that differ in nothing else: `english_text` and `german_text`.
    """
    parts = [parts_of(name) for name in names]
    found = [place for place, words in enumerate(parts) if words and words[-1] in LANGUAGES]
    if len(found) > 1:
        return found
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, words in enumerate(parts):
        if not is_about(names[place]):
            for n in (n for n, word in enumerate(words) if word in LANGUAGES):
                alike.setdefault((*words[:n], "", *words[n + 1 :]), []).append(place)
    return max((places for places in alike.values() if len(places) > 1), key=len, default=found)


KNOWN_NAMES = (
    TEXT_NAMES
    | SHORT_TEXT_NAMES
    | LABEL_NAMES
    | SOURCE_NAMES
    | TARGET_NAMES
    | _ABOUT
    | frozenset().union(*(first | second for first, second in PAIRED_NAMES))
    | _words("word words tag tags token pos lemma translation value notes first second left right kind mark")
)
"""Words that a heading is likely to have, languages left out, which are words of other languages."""


def is_known(name: str) -> bool:
    """Whether the name of a column has a word that headings have, or is a language."""
    parts = parts_of(name)
    return any(part in KNOWN_NAMES for part in parts) or (len(parts) == 1 and parts[0] in LANGUAGES)
