"""`nbsql cross-validate`, `sweep` and `auto`: fits evaluated on held-out rows, and the best of many."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, get_args

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, objects, print_value, with_formats
from nbsql.cli.arguments import FAMILY, LISTED_METHODS, PRIOR
from nbsql.cli.fit import chosen, smoothed
from nbsql.cli.fit_options import PARTS, TARGET, option_of_fit, takes
from nbsql.cli.options import command, option, together
from nbsql.cli.session import end_progress, open_for_reading, open_for_writing, show_warnings
from nbsql.engines.engine import Engine
from nbsql.family import Family
from nbsql.model.destination import destination_for
from nbsql.queries.table import tables_of
from nbsql.tuning.auto import FOLDS
from nbsql.tuning.budget import ENOUGH_ROWS
from nbsql.tuning.choice import RULE, SEEN
from nbsql.tuning.methods import METHODS
from nbsql.tuning.sweep import By


@command("Evaluate a fit on held-out rows.", takes(nbsql.cross_validate, left_out=("bins", *PARTS)))
@option("--gain", is_flag=True, help="Say which other method would gain most, by five folds of each; this takes longer.")
@with_formats(csv="Print CSV: fold, rows, weight, accuracy, log_loss.", sql=None)
def cross_validate(
    database: str, source: str, *, target: str, classes: Sequence[str] | None, gain: bool, form: Form, **given: Any
) -> None:
    """Predict every row of SOURCE by the model of the other folds, and evaluate the predictions.

    \b
      nbsql cross-validate shop.duckdb customers --target churned --id customer_id
      nbsql cross-validate shop.duckdb customers --target churned --fold region --json
      nbsql cross-validate shop.duckdb customers --target churned --folds loo
    """
    options = chosen(given)
    with open_for_reading(database) as engine:
        with show_warnings(engine):
            found = nbsql.cross_validate(engine, source, target=nbsql.Target(target, classes), **options)
            gained = found.gain() if gain else None
        (shown,) = tables_of(found)
        end_progress(engine)
        if form != "table":
            numbers: dict[str, Any] = {"rows": found.rows, "accuracy": found.accuracy, "log_loss": found.log_loss}
            numbers |= {"gain": gained} if gain else {}
            folded = objects(engine, found.folds.sql)
            print_value(engine, form, {**numbers, "folds": folded}, folded)
            return
        others = "all other rows" if given["folds"] == "loo" and given["fold"] is None else "the other folds"
        tables.echo(f"{found.rows:,} rows of {tables.plain(source)} predicted by the models of {others}", "")
        tables.draw(shown)
        tables.echo("", gained or "whether another method would gain: --gain")


@contextmanager
def _to_choose(database: str, name: str | None, *, replace: bool) -> Iterator[Engine]:
    """A database to compare fits in; the best is stored in it if it has a name."""
    with open_for_writing(database, create=False) if name else open_for_reading(database) as engine:
        if name:
            destination_for(engine, name, None, replace=replace)  # refuse a name that is taken before the work, not after it
        yield engine


@command(
    "Evaluate many settings of a fit, and keep the best.",
    takes(
        nbsql.sweep, nbsql.Sweep.best, left_out=PARTS, own=("alpha", "prior", "families"),
        alpha=together(
            option_of_fit("alpha"),
            option("--alphas", metavar="A,A,...", help="Pseudo-counts to try, instead of --alpha: 0.1,1,10"),
        ),
        prior=together(
            option_of_fit("prior"),
            option("--priors", multiple=True, type=PRIOR, help="A prior to try, instead of --prior. Repeatable."),
        ),
        families=together(
            option_of_fit("families"),
            option(
                "--try-family", "tried", type=FAMILY, multiple=True,
                help="A family to try for a column, in addition to that of --family or of its type. Repeatable.",
            ),
        ),
        by=option("--by", type=click.Choice(get_args(By)), default="log_loss", help="The metric that ranks the settings."),
        name=option("--name", metavar="MODEL", help="Store the model of the best setting under this name."),
    ),
)  # fmt: skip
@with_formats(csv="Print CSV: rank, alpha, prior, families, accuracy, log_loss.", sql=None)
def sweep(
    database: str, source: str, *, target: str, alphas: str | None, priors: Sequence[str | Mapping[str, float]],
    tried: Sequence[tuple[str, Family]], classes: Sequence[str] | None, name: str | None, replace: bool, form: Form,
    **given: Any,
) -> None:  # fmt: skip
    """Cross-validate every combination of settings on SOURCE, from one count of its rows, and rank them.

    \b
      nbsql sweep shop.duckdb customers --target churned --id customer_id --alphas 0.1,1,10
      nbsql sweep shop.duckdb customers --target churned --try-family visits=poisson --name churn
    """
    prior_alpha = given.pop("prior_alpha")
    options = chosen(given)
    families = options.pop("families")
    options["families"] = families or None
    if tried:
        options["families"] = [families, *({**families, column: family} for column, family in tried)]
    wanted = smoothed(priors or [options["prior"]], prior_alpha)
    if alphas is not None:
        options["alpha"] = _numbers(alphas)
    with _to_choose(database, name, replace=replace) as engine:
        with show_warnings(engine):
            options["prior"] = wanted if priors else wanted[0]
            found = nbsql.sweep(engine, source, target=nbsql.Target(target, classes), **options)
            if name:
                found.best(name=name, replace=replace)
        end_progress(engine)
        if form != "table":
            answer(found.ranking, form, limit=len(found.settings))
            return
        tables.echo(f"{found.rows:,} rows of {tables.plain(source)} predicted by each of {len(found.settings)} settings", "")
        tables.query(engine, found.ranking.sql, keep=1)  # the log loss, by which they are ranked
        if found.lines():
            tables.echo("", *found.lines())
        if name:
            tables.echo("", f"model {name} in {database} is that of the first")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--alphas takes numbers, such as 0.1,1,10, not {text!r}") from None


@command(
    "Choose families and a method, and keep the best model.",
    takes(
        nbsql.auto, nbsql.Auto.best, left_out=PARTS, target=TARGET,
        leave_out=option("--keep-all", is_flag=True, help="Keep all columns as features."),
        calibrate=option("--no-calibration", is_flag=True, help="Do not try a temperature, or draw toward the priors."),
        methods=option(
            "--methods", metavar="NAMES", type=LISTED_METHODS, show_default=",".join(map(str, METHODS)),
            help="The classifiers to try, separated by commas: tan, or tan(bins=10).",
        ),
        folds=option("--folds", type=click.IntRange(min=2), default=FOLDS, help="The number of folds."),
        budget=option(
            "--budget", metavar="ROWS|TIME", default=ENOUGH_ROWS,
            help="About how many rows to use, or how long to search: '30 s', '2 min'.",
        ),
        name=option("--name", metavar="MODEL", help="Store the chosen model under this name."),
    ),
)  # fmt: skip
@with_formats(csv="Print CSV: feature, family, alone, log_loss, gain, standard_error, chosen.", sql=None)
def auto(
    database: str, source: str, *, target: str, keep_all: bool, no_calibration: bool, methods: Sequence[Any] | None,
    name: str | None, replace: bool, form: Form, **given: Any,
) -> None:  # fmt: skip
    """Choose the families of the columns of SOURCE and the method by cross-validated log loss, and show what was tried.

    \b
      nbsql auto shop.duckdb customers --target churned --id customer_id
      nbsql auto shop.duckdb customers --target churned --id customer_id --name churn
    """
    options: dict[str, Any] = {**chosen(given), "methods": METHODS if methods is None else methods}
    with _to_choose(database, name, replace=replace) as engine:
        with show_warnings(engine):
            found = nbsql.auto(engine, source, target=target, leave_out=not keep_all, calibrate=not no_calibration, **options)
            if name:
                found.best(name=name, replace=replace)
        end_progress(engine)
        method = str(found.method)
        if form != "table":
            tried = objects(engine, found.tried.sql)
            settings = objects(engine, found.ranking.sql)
            held_out = None if found.held_out is None else asdict(found.held_out)
            numbers = {"rows": found.rows, "method": method, "shrinkage": found.shrinkage, "held_out": held_out}
            others = {"derive": {**found.derive}, "not_tried": [*found.not_tried], "refused": {**found.refused}}
            print_value(engine, form, {**numbers, **others, "settings": settings, "tried": tried}, tried)
            return
        tables.echo(*found.lines(), "")
        tables.echo(f"{found.rows:,} rows of {tables.plain(source)} predicted by models that have not seen them", "")
        tables.query(engine, found.ranking.sql)
        tables.echo("", RULE, SEEN)
        if method != "naive":
            tables.echo("", f"method: {method}")
        for shown in tables_of(found)[1:]:  # the families, if any was chosen
            tables.echo("")
            tables.draw(shown)
        if name:
            tables.echo("", f"model {name} in {database} is that of the first")
