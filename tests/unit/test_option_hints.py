"""Words of other packages: what a message offers for them can be pasted."""

import re

import pytest

import nbsql
from nbsql.spec.option_hints import ELSEWHERE, option_hint
from nbsql.spec.options import Options, model_fields


@pytest.mark.parametrize("word", sorted(ELSEWHERE))
def test_what_is_offered_for_a_word_of_another_package_is_an_option(word):
    said = option_hint(word, {word: 1})
    assert said.startswith("; here it is ")
    assert word not in {each.name for each in model_fields()}
    for cure in re.findall("⟨(.*?)⟩", said):
        if "..." not in cure:
            given = eval(f"dict({cure})", {"nbsql": nbsql})  # noqa: S307 - the text above
            Options.of(given.pop("target", "y"), given)
