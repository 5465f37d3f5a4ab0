"""The page of what goes with what is that of the tables."""

from pathlib import Path

from support.capabilities import page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "capabilities.md"


def test_the_page_is_that_of_the_tables(request):
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page(), encoding="utf-8", newline="\n")
    assert PAGE.read_text(encoding="utf-8") == page(), "write it with pytest tests/docs/test_capabilities.py --update-golden"
