"""What the files of SQL are held to, so that no setting of a session enters an answer."""

import re

import pytest

from nbsql.rendering.renderer import macro_path
from nbsql.rendering.sources import ENTRY, macro_files

FILES = macro_files(macro_path())
TAG = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
COMMENT = re.compile(r"{#.*?#}|(?<!\S)-- [^\n]*", re.DOTALL)
COMMA = re.compile(r"{{-? nbsql\.comma(?:_blank|_line)?\(loop\) -?}}")
END = re.compile(r"[)\];]|\b(ROWS|RANGE|GROUPS|LIMIT|OFFSET|FROM|UNION)\b|{%-? end(macro|set)|\n(?=\s*\n|#|\w+\(.*\) +=)|\Z")
DIRECTED = re.compile(r"\b(?:ASC|DESC)\s+NULLS (?:FIRST|LAST)\s*$")


def clause(text):
    """What an ORDER BY is followed by, up to its end, with a letter in the place of what stands in brackets."""
    kept, depth, place = "", 0, 0
    while place < len(text):
        tag = TAG.match(text, place)
        if depth == 0 and END.match(text, place):
            break
        if tag:
            kept += "," if COMMA.fullmatch(tag[0]) else " x " if tag[0].startswith("{{") else " "
            place = tag.end()
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[place], 0)
        kept += text[place] if depth == 0 else "x"
        place += 1
    return kept


def undirected(text):
    """The line and the text of every ORDER BY with a key of which it is not said which way, and where NULLs go."""
    text = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    for found in re.finditer(r"\bORDER\s+BY\b", text):
        keys = [key for key in clause(text[found.end() :]).split(",") if key.strip()]
        if not keys or not all(DIRECTED.search(key) for key in keys):
            yield text.count("\n", 0, found.start()) + 1, text[found.start() :].splitlines()[0]


def found_in(files, find):
    """What is found in the text of each file in which something is."""
    return {str(path): found for path in files if (found := [*find(path.read_text(encoding="utf-8"))])}


def test_every_order_says_its_direction_and_where_nulls_go():
    assert found_in(FILES, undirected) == {}


def unsorted(text):
    """The sorted lists of which that is not said."""
    said = r"(?!.*, '(?:ASC|DESC)', 'NULLS (?:FIRST|LAST)'\))"
    return re.findall(rf"\b(?:list_sort|list_reverse_sort|list_grade_up)\({said}.*", COMMENT.sub("", text))


def test_every_sorted_list_says_so_too():
    assert found_in(FILES, unsorted) == {}
    assert unsorted("list_sort(x)\nlist_sort(x, 'ASC', 'NULLS LAST')") == ["list_sort(x)"]


@pytest.mark.parametrize(
    "wrong",
    [
        "SELECT x FROM t ORDER BY x",
        "row_number() OVER (ORDER BY prior DESC, class ASC NULLS LAST) AS k",
        "row_number() OVER (PARTITION BY a ORDER BY f(b, c) ASC NULLS LAST, class) AS k",
        "list(x ORDER BY y NULLS LAST) AS l",
        "sum(x) OVER (ORDER BY y ROWS UNBOUNDED PRECEDING)",
        "ORDER BY {% for c in columns %}{{ nbsql.ident(c) }}{{ nbsql.comma(loop) }}{% endfor %}\n\n{%- endmacro %}",
        "ORDER BY\n  x ASC NULLS LAST,\n  y\n{%- endmacro %}",
        "ORDER BY {{ by }})",
    ],
)
def test_an_order_without_them_is_found(wrong):
    assert len(list(undirected(wrong))) == 1


@pytest.mark.parametrize(
    "right",
    [
        "SELECT x FROM t ORDER BY x ASC NULLS LAST LIMIT 1",
        "row_number() OVER (ORDER BY prior DESC NULLS LAST, f(a, b) ASC NULLS FIRST) AS k, y",
        "ORDER BY {% for c in columns %}{{ nbsql.ident(c) }}{% if c in falling %} DESC{% else %} ASC{% endif %} NULLS LAST"
        "{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}\n\n{%- endmacro %}",
        "{# ORDER BY x #} SELECT 1",
        "--   FROM t ORDER BY x;\nSELECT 1 -- ORDER BY x",
    ],
)
def test_an_order_with_them_is_not(right):
    assert not list(undirected(right))


def test_every_line_of_a_table_is_read():
    tables = [path for path in FILES if path.suffix != ".sql"]
    assert tables
    read = found_in(tables, lambda text: [line for line in ENTRY.sub("", text).splitlines() if line and line[0] != "#"])
    assert read == {}
