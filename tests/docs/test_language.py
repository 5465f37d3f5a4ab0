"""The pages are written for their readers: short sentences, narrow code, no diary and no words of the workshop."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
MOST_WORDS = 36
WIDEST_CODE = 88
# What a page shows of the package has the width of the package.
OF_THE_PACKAGE = {"adding-a-family.md", "adding-an-option.md"}
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
DIARY = {
    "a day": rf"\b\d{{1,2}} (?:{_MONTH})\b|\b(?:{_MONTH}) \d{{1,2}}, \d{{4}}",
    "the path of a test": r"\btests/(?!benchmarks)\S+\.py",
    "a word of the workshop": r"\b(?:busy|idle cores|of before|is said|was learnt by|leans? on|vouch)\b",
    "a headless noun": r"\b(?:the one of|those of the one|what is there|what it has learnt)\b",
}


def prose(text):
    """A page without its blocks of code and its code in lines."""
    return re.sub(r"`[^`\n]+(?:\n[^`\n]+)?`", "code", BLOCK.sub("\n", text))


def sentences(text):
    """The sentences of the paragraphs and lists, of which a link counts by its text; a colon ends one as a full stop does."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\s*\|)", prose(text)):
        if not paragraph.strip().startswith(("#", "|", "<")):
            plain = re.sub(r"\]\([^)]*\)", "]", " ".join(paragraph.split())).removeprefix("- ")
            yield from re.split(r"(?<=[.!?:])[)*\"]*\s+(?=[A-Z\[*(\"]|code\b|nbsql\b)", plain)


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_no_sentence_of_a_page_is_long(path):
    found = [sentence for sentence in sentences(path.read_text(encoding="utf-8")) if len(sentence.split()) > MOST_WORDS]
    assert found == []


@pytest.mark.parametrize("path", [path for path in PAGES if path.name not in OF_THE_PACKAGE], ids=name)
def test_no_line_of_code_on_a_page_needs_scrolling(path):
    blocks = [(language, code) for _, language, code in BLOCK.findall(path.read_text(encoding="utf-8"))]
    shown = [code for language, code in blocks if not language.startswith(("output", "{"))]
    assert [line for code in shown for line in code.splitlines() if len(line) > WIDEST_CODE] == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_no_page_is_a_diary_or_speaks_the_language_of_the_workshop(path):
    text = prose(path.read_text(encoding="utf-8"))
    assert {kind: found for kind, pattern in DIARY.items() if (found := re.findall(pattern, text))} == {}


def test_a_long_sentence_is_found():
    long = "word " * MOST_WORDS + "end. Short."
    assert [len(sentence.split()) for sentence in sentences(f"# Title\n\n- {long}\n\n| {long} |\n")] == [MOST_WORDS + 1, 1]
