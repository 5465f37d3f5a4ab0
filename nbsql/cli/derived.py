"""`nbsql cross-validate`, `sweep`, `drift`, `merge`, `export` and `import`: verbs that work on counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, limited, objects, print_done, print_value, with_formats
from nbsql.cli.arguments import FAMILY, FOLDS, PRIOR
from nbsql.cli.description import FEATURES
from nbsql.cli.fit import chosen, modelling, naming_classes, report, smoothed, typed
from nbsql.cli.session import end_progress, open_for_reading, open_for_writing, show_warnings
from nbsql.family import Family
from nbsql.model.place import place_for
from nbsql.tuning.sweep import By


@click.command("cross-validate", short_help="Evaluate a fit on held-out rows.")
@click.argument("database")
@click.argument("source")
@modelling
@click.option(
    "--folds", type=FOLDS, default=10, show_default=True, help="The number of folds; loo leaves out one row at a time."
)
@click.option("--fold", metavar="COLUMN", help="A column with the fold of each row, instead.")
@naming_classes
@with_formats(csv="Print CSV: fold, rows, weight, accuracy, log_loss.", sql=None)
def cross_validate(
    database: str,
    source: str,
    *,
    target: str,
    classes: Sequence[str] | None,
    folds: Any,
    fold: str | None,
    form: Form,
    **given: Any,
) -> None:
    """Predict every row of SOURCE by the model of the other folds, and evaluate the predictions.

    \b
      nbsql cross-validate shop.duckdb customers --target churned --id customer_id
      nbsql cross-validate shop.duckdb customers --target churned --fold region --json
      nbsql cross-validate shop.duckdb customers --target churned --folds loo
    """  # noqa: D301 - \b keeps the lines
    options = chosen(given)
    with open_for_reading(database) as engine:
        with show_warnings(engine):
            options["prior"] = typed(engine, source, target, options["prior"])
            declared = nbsql.Target(target, classes)
            found = nbsql.cross_validate(engine, source, target=declared, folds=folds, fold=fold, **options)
        rows = found.folds.fetchall()
        end_progress(engine)
        if form != "table":
            numbers = {"rows": found.rows, "accuracy": found.accuracy, "log_loss": found.log_loss}
            folded = objects(engine, found.folds.sql)
            print_value(engine, form, {**numbers, "folds": folded}, folded)
        else:
            others = "all other rows" if folds == "loo" and fold is None else "the other folds"
            tables.echo(f"{found.rows:,} rows of {tables.plain(source)} predicted by the models of {others}", "")
            lines = [[fold, f"{n:,}", f"{accuracy:.4f}", f"{loss:.4f}"] for fold, n, _, accuracy, loss in rows]
            lines.append(["all", f"{found.rows:,}", f"{found.accuracy:.4f}", f"{found.log_loss:.4f}"])
            tables.table(["fold", "rows", "accuracy", "log loss"], lines, right=range(1, 4))


@click.command(short_help="Evaluate many settings of a fit, and keep the best.")
@click.argument("database")
@click.argument("source")
@modelling
@click.option("--alphas", metavar="A,A,...", help="Pseudo-counts to try, instead of --alpha: 0.1,1,10")
@click.option("--priors", multiple=True, type=PRIOR, help="A prior to try, instead of --prior. Repeatable.")
@click.option(
    "--try-family",
    "tried",
    type=FAMILY,
    multiple=True,
    help="A family to try for a column, in addition to that of --family or of its type. Repeatable.",
)
@click.option(
    "--folds", type=FOLDS, default=10, show_default=True, help="The number of folds; loo leaves out one row at a time."
)
@click.option("--fold", metavar="COLUMN", help="A column with the fold of each row, instead.")
@naming_classes
@click.option(
    "--by", type=click.Choice(get_args(By)), default="log_loss", show_default=True, help="The metric that ranks the settings."
)
@click.option("--name", metavar="MODEL", help="Store the model of the best setting under this name.")
@click.option("--replace", is_flag=True, help="Replace the model of that name.")
@with_formats(csv="Print CSV: rank, alpha, prior, families, accuracy, log_loss.", sql=None)
def sweep(
    database: str,
    source: str,
    *,
    target: str,
    alphas: str | None,
    priors: Sequence[str | Mapping[str, float]],
    tried: Sequence[tuple[str, Family]],
    folds: Any,
    fold: str | None,
    classes: Sequence[str] | None,
    by: By,
    name: str | None,
    replace: bool,
    form: Form,
    **given: Any,
) -> None:
    """Cross-validate every combination of settings on SOURCE, from one count of its rows, and rank them.

    \b
      nbsql sweep shop.duckdb customers --target churned --id customer_id --alphas 0.1,1,10
      nbsql sweep shop.duckdb customers --target churned --try-family visits=poisson --name churn
    """  # noqa: D301 - \b keeps the lines
    prior_alpha = given.pop("prior_alpha")
    options = chosen(given)
    families = options.pop("families")
    options["families"] = [families, *({**families, column: family} for column, family in tried)]
    wanted = smoothed(priors or [options["prior"]], prior_alpha)
    if alphas is not None:
        options["alpha"] = _numbers(alphas)
    with open_for_writing(database, create=False) if name else open_for_reading(database) as engine:
        if name:
            place_for(engine, name, None, replace=replace)  # refuses a name that is taken before the work, not after
        with show_warnings(engine):
            options["prior"] = [typed(engine, source, target, prior) for prior in wanted]
            declared = nbsql.Target(target, classes)
            found = nbsql.sweep(engine, source, target=declared, folds=folds, fold=fold, by=by, **options)
            if name:
                found.best(name=name, replace=replace)
        end_progress(engine)
        if form != "table":
            answer(engine, found.ranking, form, limit=len(found.settings))
            return
        tables.echo(f"{found.rows:,} rows of {tables.plain(source)} predicted by each of {len(found.settings)} settings", "")
        tables.query(engine, found.ranking.sql)
        if name:
            tables.echo("", f"model {name} in {database} is that of the first")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--alphas takes numbers, such as 0.1,1,10, not {text!r}") from None


@click.command(short_help="Measure the drift between two slices or batches of a model.")
@click.argument("database")
@click.argument("model")
@click.argument("a")
@click.argument("b")
@limited
@with_formats
def drift(database: str, model: str, a: str, b: str, *, limit: int, form: Form) -> None:
    """Compare slice B of MODEL with slice A, or batches of its ledger if it has no slices. The largest drift comes first.

    \b
      nbsql drift shop.duckdb churn 2026-01 2026-02
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        answer(engine, nbsql.load(engine, model).drift(a, b), form, limit=limit, empty=True)


@click.command(short_help="Merge several models into one.")
@click.argument("database")
@click.argument("models", nargs=-1, required=True)
@click.option("--name", required=True, metavar="MODEL", help="The name of the merged model.")
@click.option("--replace", is_flag=True, help="Replace the model of that name.")
@with_formats(csv=FEATURES, sql=None)
def merge(database: str, models: tuple[str, ...], *, name: str, replace: bool, form: Form) -> None:
    """Merge MODELS of DATABASE, which have the same target and features. Only counts are read, never rows.

    \b
      nbsql merge shop.duckdb january february --name winter
    """  # noqa: D301 - \b keeps the lines
    with open_for_writing(database, create=False) as engine:
        model = nbsql.merge(engine, list(models), name=name, replace=replace)
        report(engine, database, model, form)


@click.command(short_help="Write a model to one file.")
@click.argument("database")
@click.argument("model")
@click.argument("path")
@click.option("--overwrite", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--least",
    type=int,
    metavar="N",
    help="Leave out values that fewer than N rows of a class have, so that counts can be shared.",
)
@click.option(
    "--epsilon",
    type=float,
    metavar="E",
    help="Add noise: the file is E-differentially private, and the ledger records it.",
)
@click.option("--seed", type=int, metavar="N", help="Make the noise reproducible, for a test: the file is then not private.")
@with_formats(sql=None)
def export(database: str, model: str, path: str, *, overwrite: bool, form: Form, **sharing: Any) -> None:
    """Write MODEL to PATH, a Parquet file of its counts. The file contains no rows, and every engine can read it.

    \b
      nbsql export shop.duckdb churn churn.parquet
      nbsql export shop.duckdb churn shared.parquet --least 10
    """  # noqa: D301 - \b keeps the lines
    opened = open_for_reading(database) if sharing["epsilon"] is None else open_for_writing(database, create=False)
    with opened as engine:
        nbsql.load(engine, model).export(path, overwrite=overwrite, **sharing)
        print_done(engine, form, f"model {model} written to {path}", model=model, path=path)


@click.command("import", short_help="Read a model from a file.")
@click.argument("database")
@click.argument("path")
@click.option("--name", required=True, metavar="MODEL", help="The name of the model.")
@click.option("--replace", is_flag=True, help="Replace the model of that name.")
@with_formats(csv=FEATURES, sql=None)
def import_(database: str, path: str, *, name: str, replace: bool, form: Form) -> None:
    """Read the model that `nbsql export` wrote to PATH, on any engine.

    \b
      nbsql import other.duckdb churn.parquet --name churn
    """  # noqa: D301 - \b keeps the lines
    with open_for_writing(database) as engine:
        model = nbsql.import_(engine, path, name=name, replace=replace)
        report(engine, database, model, form)
