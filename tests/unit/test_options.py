"""Options of families, methods and priors that cannot be are refused in one line where they are written."""

import math

import pytest

import nbsql
from nbsql import LDA, QDA, JointBayes, Logistic, Mixture, Segments, Smoothed
from nbsql.errors import closest_name

NO_NUMBER = "must be a finite number of at least 0, not"
LENGTHS = "ngrams must be a whole number from 1 to 10, or a pair (shortest, longest), not"
NO_OTHER_CLASS = "the complement needs alpha > {}, or a word that no other class holds would weigh infinitely"
PSEUDO = "estimate='mle' of {!r} takes no pseudo-counts, and it has {:g}; leave them out, or use estimate='mean' or 'mode'"
NO_MODE = "a Dirichlet distribution with alpha = {} has no mode"
NEEDS = "estimate='mode' of {!r} needs every pseudo-count at 1 (no smoothing) or above: " + NO_MODE
RATE = (
    "estimate='mode' of 'poisson' needs a at 1 or above, or a and b at 0 for no prior: "
    "a Gamma distribution with a = {}, b = {} has no mode"
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nbsql.Gaussian(variance="pop"), "variance must be one of 'population', 'sample', not 'pop'"),
        (lambda: nbsql.Gaussian(floor=-1), f"floor {NO_NUMBER} -1"),
        (lambda: nbsql.Poisson(a=-1), f"a {NO_NUMBER} -1"),
        (lambda: nbsql.Poisson(b="x"), f"b {NO_NUMBER} 'x'"),
        (lambda: nbsql.Bernoulli(alpha=-1), f"alpha {NO_NUMBER} -1"),
        (lambda: nbsql.Bernoulli(beta=math.inf), f"beta {NO_NUMBER} inf"),
        (
            lambda: nbsql.Categorical(min_count=2, levels=["a"]),
            "declared categories are kept however rare; leave out min_count, or levels and alphas by category",
        ),
        (lambda: nbsql.Categorical(min_count=0), "min_count must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Categorical(levels="abc"), "levels must be a list, not 'abc'"),
        (lambda: nbsql.Categorical(levels=3), "levels must be a list, not 3"),
        (lambda: nbsql.Categorical(levels=[None]), "levels may not hold None; nulls='category' makes a missing value one"),
        (lambda: nbsql.Tokens(alpha={"a": 1}), f"alpha {NO_NUMBER} {{'a': 1}}"),
        (lambda: nbsql.Categorical(unseen="no"), "unseen must be one of 'skip', 'smooth', not 'no'"),
        (
            lambda: nbsql.Poisson(nulls="category"),
            "nulls='category' needs a family with categories, not 'poisson'; use 'skip' or 'error'",
        ),
        (lambda: nbsql.Multinomial("w1"), "Multinomial takes a list of columns, not 'w1'"),
        (lambda: nbsql.Multinomial(None), "Multinomial takes a list of columns, not None"),
        (lambda: nbsql.Multinomial([3]), "Multinomial takes a list of columns, and 3 is no text"),
        (lambda: nbsql.Multinomial(["w1", "w2"], alpha={"w1": -1}), f"alpha {NO_NUMBER} -1"),
        (
            lambda: nbsql.Multinomial(["w1", "w2"], alpha={"w_1": 1}),
            "alpha names 'w_1', which is no column of Multinomial; did you mean 'w1'?",
        ),
        (lambda: nbsql.Text(event="poisson"), "event must be one of 'multinomial', 'bernoulli', 'complement', not 'poisson'"),
        (lambda: nbsql.Text(min_count=0), "min_count must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Text(min_count="2"), "min_count must be a whole number of at least 1, not '2'"),
        (lambda: nbsql.Text(min_length=True), "min_length must be a whole number of at least 1, not True"),
        (lambda: nbsql.Text(ngrams=0), f"{LENGTHS} 0"),
        (lambda: nbsql.Text(ngrams=(2, 1)), f"{LENGTHS} (2, 1)"),
        (lambda: nbsql.Text(ngrams="2"), f"{LENGTHS} '2'"),
        (lambda: nbsql.Text(characters=(0, 2)), f"{LENGTHS.replace('ngrams', 'characters')} (0, 2)"),
        (lambda: nbsql.Text(characters=3, ngrams=2), "characters=... cuts no words; leave out ngrams, or characters"),
        (lambda: nbsql.Text(within_words=True), "within_words=True goes with runs of characters: characters=(2, 4)"),
        (lambda: nbsql.Text(normal_form="D"), "normal_form must be 'C' or None, not 'D'"),
        (lambda: nbsql.Text(accents="no"), "accents must be True or False, not 'no'"),
        (lambda: nbsql.Text(pattern=""), "pattern must be a regular expression, not ''"),
        (lambda: nbsql.Text(stop_words="klingon"), "no stop words 'klingon'; name one of 'english', or give a list of words"),
        (lambda: nbsql.Text(stop_words=3), "stop_words must be 'english' or a list of words, not 3"),
        (lambda: nbsql.Text(stop_words=["a", 3]), "stop_words must be 'english' or a list of words, and 3 is no text"),
        (
            lambda: nbsql.Text(event="bernoulli", unseen="smooth"),
            "unseen='smooth' needs event='multinomial': to the Bernoulli model a new word is no word at all",
        ),
        (
            lambda: nbsql.Text(event="bernoulli", alpha=0),
            "Text(event='bernoulli') needs alpha > 0, or a word that every text of a class holds could not be absent",
        ),
        (lambda: nbsql.Categorical(alpha=0.5, estimate="mode"), NEEDS.format("categorical", 0.5)),
        (lambda: nbsql.Categorical(alpha={"u": 2, "v": 0.9}, estimate="mode"), NEEDS.format("categorical", 0.9)),
        (lambda: nbsql.Bernoulli(1, 0, estimate="mode"), NEEDS.format("bernoulli", 0)),
        (lambda: nbsql.Multinomial(["u", "v"], alpha={"u": 0.5}, estimate="mode"), NEEDS.format("multinomial", 0.5)),
        (lambda: nbsql.Tokens(alpha=0, estimate="mode"), NEEDS.format("tokens", 0)),
        (lambda: nbsql.Poisson(0.5, 1, estimate="mode"), RATE.format(0.5, 1)),
        (lambda: nbsql.Poisson(0, 1, estimate="mode"), RATE.format(0, 1)),
        (
            lambda: nbsql.Text(event="bernoulli", alpha=1, estimate="mode"),
            "Text(event='bernoulli') needs alpha > 1, or a word that every text of a class holds could not be absent",
        ),
        (lambda: nbsql.Categorical(estimate="best"), "estimate must be one of 'mean', 'mode', 'map', 'mle', not 'best'"),
        (lambda: nbsql.Categorical(alpha={"u": 0, "v": 2}, estimate="mle"), PSEUDO.format("categorical", 2)),
        (lambda: nbsql.Bernoulli(0, 0.5, estimate="mle"), PSEUDO.format("bernoulli", 0.5)),
        (
            lambda: nbsql.Geometric(0, 1, estimate="mle"),
            "estimate='mle' of 'geometric' takes no prior, and it has a = 0, b = 1; "
            "leave them out, or use estimate='mean' or 'mode'",
        ),
        (
            lambda: nbsql.Gaussian(prior=nbsql.NormalInverseGamma(), estimate="mle"),
            "estimate='mle' of 'gaussian' takes no prior; leave it out, or use estimate='mean' or 'mode'",
        ),
        (
            lambda: nbsql.Gaussian(variance="sample", estimate="mle"),
            "variance='sample' is not the maximum-likelihood estimate; leave it or estimate='mle' out",
        ),
        (lambda: nbsql.Tokens(event="complement", alpha=0, estimate="mle"), NO_OTHER_CLASS.format(0)),
        (
            lambda: nbsql.Gaussian(estimate="mode"),
            "estimate='mode' of 'gaussian' needs a prior: prior=nbsql.NormalInverseGamma()",
        ),
        (
            lambda: nbsql.Gaussian(prior=nbsql.NormalInverseGamma(a=1), estimate="mean"),
            "estimate='mean' needs a > 1, or no variance is expected; with a = 1 use estimate='mode'",
        ),
        (
            lambda: nbsql.Gaussian(variance="sample", prior=nbsql.NormalInverseGamma()),
            "variance='sample' and a prior are two estimates of one variance; leave one of them out",
        ),
        (lambda: nbsql.NormalInverseGamma(b=0), "b of nbsql.NormalInverseGamma must be above 0"),
        (lambda: nbsql.NormalInverseGamma(kappa=-1), "kappa must be a finite number of at least 0, not -1"),
        (lambda: nbsql.NormalInverseGamma(mean="3"), "the mean of a prior must be a finite number, not '3'"),
        (lambda: nbsql.Gaussian(prior=3), "prior must be nbsql.NormalInverseGamma(mean=..., kappa=..., a=..., b=...), not 3"),
        (
            lambda: nbsql.Categorical(alpha=1, other_alpha=2),
            "other_alpha goes with a pseudo-count a category: alpha={'red': 2}",
        ),
        (lambda: nbsql.Categorical(alpha={"u": -1}), "alpha of 'u' must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Logistic(penalty=-1), "penalty must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Logistic(penalty=True), "penalty must be a finite number of at least 0, not True"),
        (lambda: nbsql.Logistic(iterations=0), "iterations must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Logistic(tolerance=0), "tolerance must be above 0, not 0"),
        (lambda: nbsql.LDA(shrinkage=2), "shrinkage must be None, a number from 0 to 1 or 'ledoit-wolf', not 2"),
        (lambda: nbsql.QDA(shrinkage="auto"), "shrinkage must be None, a number from 0 to 1 or 'ledoit-wolf', not 'auto'"),
        (lambda: nbsql.QDA(0.2, toward="diagonal"), "toward must be one of 'identity', 'pooled', not 'diagonal'"),
        (lambda: nbsql.QDA(toward="pooled"), "toward='pooled' needs a number, such as shrinkage=0.2, not None"),
        (lambda: nbsql.JointBayes(backoff="niave"), "backoff must be one of 'naive', not 'niave'; did you mean 'naive'?"),
        (lambda: nbsql.Mixture(0), "components must be a whole number of at least 1, not 0"),
        (
            lambda: nbsql.Text(ngrams=(1, 10**5000)),
            "ngrams must be a whole number from 1 to 10, or a pair (shortest, longest), not a number of thousands of digits",
        ),
        (lambda: nbsql.Mixture(True), "components must be a whole number of at least 1, not True"),
        (lambda: nbsql.Mixture("2"), "components must be a whole number of at least 1, not '2'"),
        (lambda: nbsql.Mixture({"a": 1.5}), "components of class 'a' must be a whole number of at least 1, not 1.5"),
        (lambda: nbsql.Smoothed(1e308), "alpha must be at most 1e+150, not 1e+308"),
        (lambda: nbsql.Gaussian(floor=1e308), "floor must be at most 1e+150, not 1e+308"),
        (lambda: nbsql.NormalInverseGamma(kappa=1e308), "kappa must be at most 1e+150, not 1e+308"),
        (lambda: nbsql.Smoothed(-1), "alpha must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Segments(3), "segment_by must be one SQL expression over the columns, not 3"),
        (lambda: nbsql.Segments("g", shrinkage=-1), "shrinkage must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Segments("g", shrinkage="much"), "shrinkage must be a finite number of at least 0, not 'much'"),
        (lambda: nbsql.Complement(["u", "v"], alpha=0), NO_OTHER_CLASS.format(0)),
        (lambda: nbsql.Complement(["u", "v"], alpha={"u": 0}), NO_OTHER_CLASS.format(0)),
        (lambda: nbsql.Text(event="complement", alpha=1, estimate="mode"), NO_OTHER_CLASS.format(1)),
        (lambda: nbsql.Complement(["u", "v"], norm="l2"), "norm must be True or False, not 'l2'"),
        (lambda: nbsql.Text(norm="l1"), "norm must be None or 'l2', not 'l1'"),
        (lambda: nbsql.Text(norm=True), "norm must be None or 'l2', not True"),
        (lambda: nbsql.Tokens(tfidf="yes"), "tfidf must be True or False, not 'yes'"),
        (lambda: nbsql.Tokens(weight_norm=True), "weight_norm=True needs event='complement', not 'multinomial'"),
        (lambda: nbsql.Tokens(event="no"), "event must be one of 'multinomial', 'bernoulli', 'complement', not 'no'"),
        (
            lambda: nbsql.Text(event="bernoulli", tfidf=True),
            "event='bernoulli' asks whether a word is there, not how often; leave out tfidf and norm",
        ),
        (
            lambda: nbsql.TokenCounts(norm="l2", unseen="smooth"),
            "unseen='smooth' needs tfidf=False and norm=None: a token never met has no frequency in bags",
        ),
        (lambda: nbsql.Conditional(""), "a parent is the name of a column, not ''"),
        (lambda: nbsql.Conditional(3), "a parent is the name of a column, not 3"),
        (lambda: nbsql.Conditional("p", shrinkage=-1), "shrinkage must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Conditional("p", parent_nulls="no"), "parent_nulls must be one of 'skip', 'category', not 'no'"),
        (lambda: nbsql.TAN(shrinkage=-1), "shrinkage must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Conditional("p", edges="x"), "edges must be a list of numbers, not 'x'"),
        (lambda: nbsql.Conditional("p", parent_edges=[2, 1]), "edges must be 1 to 999 numbers in ascending order, not [2, 1]"),
        (lambda: nbsql.Binned(bins=1), "bins must be a whole number from 2 to 1000, not 1"),
        (
            lambda: nbsql.Binned(by="quantiles"),
            "by must be one of 'quantile', 'width', 'mdl', 'mdl and quantile', not 'quantiles'; did you mean 'quantile'?",
        ),
        (lambda: nbsql.Binned(by=3), "by must be 'quantile', 'width', 'mdl', 'mdl and quantile' or a list of edges, not 3"),
        (lambda: nbsql.Binned(by=[3, 2]), "edges must be 1 to 999 numbers in ascending order, not [3, 2]"),
        (lambda: nbsql.Binned(by=[]), "edges must be 1 to 999 numbers in ascending order, not []"),
        (lambda: nbsql.Binned(by=["3"]), "an edge must be a finite number, not '3'"),
        (lambda: nbsql.Text(best=0), "best must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Tokens(best=2.5), "best must be a whole number of at least 1, not 2.5"),
        (
            lambda: nbsql.Text(best=5, best_by="f_statistic"),
            "best_by must be one of 'mutual_information', 'chi_square', not 'f_statistic'",
        ),
        (
            lambda: nbsql.Text(best=5, norm="l2"),
            "best and norm cannot go together: the length of a bag is that of all its tokens; leave one out",
        ),
        (
            lambda: nbsql.Text(best=5, unseen="smooth"),
            "unseen='smooth' would count the tokens that best leaves out; leave out one of them",
        ),
        (lambda: nbsql.Binned(monotone="up"), "monotone must be True, False, 'rising', 'falling' or 'peak', not 'up'"),
        (lambda: nbsql.AODE(least=0), "least must be a whole number of at least 1, not 0"),
        (lambda: nbsql.AODE(least=1.5), "least must be a whole number of at least 1, not 1.5"),
        (lambda: nbsql.AODE(shrinkage=-1), "shrinkage must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Kernel(bandwidth=0), "bandwidth must be above 0, not 0"),
        (lambda: nbsql.Kernel(bandwidth=-1), "bandwidth must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Kernel(cells=1), "cells must be a whole number from 2 to 4096, not 1"),
        (lambda: nbsql.Beta(floor=-1), "floor must be a finite number of at least 0, not -1"),
        (lambda: nbsql.Beta(estimate="mode"), "estimate='mode' of 'beta' is none of its moments; leave it out"),
        (lambda: nbsql.Gaussian(shared_variance="yes"), "shared_variance must be True or False, not 'yes'"),
        (
            lambda: nbsql.Gaussian(shared_variance=True, prior=nbsql.NormalInverseGamma()),
            "shared_variance and a prior are two estimates of one variance; leave one of them out",
        ),
        (lambda: nbsql.Best(0), "the number of features to keep must be a whole number of at least 1, not 0"),
        (lambda: nbsql.Best(True), "the number of features to keep must be a whole number of at least 1, not True"),
        (
            lambda: nbsql.Best(2, by="chi_squared"),
            "by must be one of 'mutual_information', 'chi_square', 'symmetrical_uncertainty', 'f_statistic', "
            "not 'chi_squared'; did you mean 'chi_square'?",
        ),
    ],
)
def test_an_option_that_cannot_be(make, message):
    with pytest.raises(nbsql.InputError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "instance",
    [
        JointBayes(backoff="naive"),
        LDA(shrinkage=1),
        QDA(shrinkage="ledoit-wolf"),
        QDA(shrinkage=0.2, toward="pooled"),
        Logistic(penalty=2, iterations=7, tolerance=1e-6),
        Mixture(3),
        Mixture({"a": 2, "b": 3}),
        Smoothed(2),
        Smoothed(),
        Segments("\"the region\" || 'x'", shrinkage=0),
    ],
)
def test_what_is_printed_makes_it_again(instance):
    assert eval(repr(instance)) == instance  # noqa: S307 - of classes imported above
    with pytest.raises(AttributeError):
        instance.penalty = 3


def test_two_letters_of_a_longer_name_are_not_what_was_meant():
    assert [closest_name(name, ["id", "alpha"]) for name in ("grid", "xid", "ID", "alfa")] == [None, "id", "id", "alpha"]
