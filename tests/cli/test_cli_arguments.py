"""What is written on the command line, and what it stands for."""

import pytest

import nbsql
from nbsql.cli.arguments import family, prior, split
from nbsql.cli.tables import plain, share
from nbsql.errors import InputError
from nbsql.queries.explanation import times


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("visits=poisson", "visits", nbsql.Poisson()),
        ("body=text(best=1000,best_by=chi_square)", "body", nbsql.Text(best=1000, best_by="chi_square")),
        ("a=b=poisson(a=1, b=2)", "a=b", nbsql.Poisson(a=1, b=2)),
        ("x=gaussian(variance=sample,floor=1e-9)", "x", nbsql.Gaussian(variance="sample", floor=1e-9)),
        ("t=text(characters=[2,4],within_words=true,accents=false,normal_form=none)", "t",
         nbsql.Text(characters=(2, 4), within_words=True, accents=False, normal_form=None)),
        ("t=text(event=bernoulli,stop_words=english,ngrams=2)", "t",
         nbsql.Text(event="bernoulli", stop_words="english", ngrams=(1, 2))),
        (r"t=text(pattern='\b\w+,\b',lower=false,stop_words=[it,'is so'])", "t",
         nbsql.Text(pattern=r"\b\w+,\b", lower=False, stop_words=["it", "is so"])),
        ("words=multinomial(w1,'w, 2',alpha={'w1': 0.5})", "words", nbsql.Multinomial(["w1", "w, 2"], alpha={"w1": 0.5})),
        ("c=categorical(levels=[a,b],nulls=category)", "c", nbsql.Categorical(levels=["a", "b"], nulls="category")),
    ],
)  # fmt: skip
def test_families_with_options(text, column, expected):
    assert family(text) == (column, expected)


@pytest.mark.parametrize(
    "text",
    ["x", "x=", "x=poisson(", "x=poisson(a)", "x=poisson(c=1)", "x=poisson(a=1,a=2)", "x=poisson(a=__import__('os'))",
     "x=gaussian(floor=-1)", "x=text(ngrams=[1,2,3])", "=poisson"],
)  # fmt: skip
def test_families_that_are_refused(text):
    with pytest.raises(InputError):
        family(text)


def test_priors_by_label():
    assert prior("smoothed") == "smoothed"
    assert prior("O'Neil=0.5, 'a, b' =0.25,c=d=0.25") == {"O'Neil": 0.5, "a, b": 0.25, "c=d": 0.25}
    for wrong in ("yes", "yes=", "yes=x", "a=0.5,a=0.5", "a=0.5,"):
        with pytest.raises(InputError):
            prior(wrong)


def test_words_for_numbers():
    assert split("") == []
    assert [share(p) for p in (0, 0.0001, 0.5, 0.99999, 1)] == ["0.0 %", "< 0.1 %", "50.0 %", "> 99.9 %", "100.0 %"]
    assert [times(x) for x in (0, 0.26, 3, 60, float("inf"))] == ["1", "1.3", "20", "10^26", "infinitely"]
    assert plain("x" * 50) == "x" * 39 + "…"
