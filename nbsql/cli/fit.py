"""`nbsql fit`: fits a model, and shows the family of each column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

import click
import duckdb

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, with_formats
from nbsql.cli.arguments import COMPONENTS, FAMILY, JOIN, LABELS, PRIOR
from nbsql.cli.description import FEATURES, describe
from nbsql.cli.families import AUTO, FAMILIES_FILE
from nbsql.cli.session import check_new_database, open_for_reading, open_for_writing, show_warnings
from nbsql.engines.connect import is_postgres
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.engine import Engine
from nbsql.family import Nulls, Unseen
from nbsql.model.overview import ROWS, classes_of, features_of, heading
from nbsql.spec.half_life import HalfLife
from nbsql.spec.method import METHODS, Classifier, Mixture
from nbsql.spec.options import Best, By, Forward, Segments, Smoothed
from nbsql.tuning.auto import with_auto


def _number_or_text(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


# The options that are arguments of the value of another option, and the methods that accept them.
_OF_METHODS = {
    "components": ["naive"],
    "backoff": ["joint"],
    "shrinkage": ["lda", "qda", "tan", "aode"],
    "least": ["aode"],
    "penalty": ["logistic"],
    "iterations": ["logistic", "em"],
    "tolerance": ["logistic", "em"],
    "em_weight": ["em"],
}
_ARGUMENTS = {
    *_OF_METHODS,
    "more_families",
    "best",
    "best_by",
    "forward",
    "prior_alpha",
    "segment_shrinkage",
    "half_life",
    "at",
}

# The options of the model, for every command that fits or evaluates a fit.
_OPTIONS = [
    click.option("--target", required=True, metavar="COLUMN", help="The column to predict."),
    click.option(
        "--id",
        "id",
        multiple=True,
        metavar="COLUMN",
        help="A key column, which is not a feature and identifies rows in explanations. Repeatable.",
    ),
    click.option(
        "--feature",
        "features",
        multiple=True,
        metavar="COLUMN",
        help="A feature; by default every other column. Repeatable.",
    ),
    click.option("--best", type=click.IntRange(min=1), metavar="N", help="Keep the N most informative features."),
    click.option(
        "--forward",
        type=click.IntRange(min=1),
        metavar="N",
        help="Add up to N features one by one, each time the one that lowers the cross-validated log loss most.",
    ),
    click.option(
        "--best-by",
        type=click.Choice(get_args(By)),
        help="The measure by which --best ranks.  [default: mutual_information]",
    ),
    click.option("--exclude", multiple=True, metavar="COLUMN", help="A column to leave out. Repeatable."),
    click.option(
        "--join",
        "joins",
        type=JOIN,
        multiple=True,
        help="A dimension table with features, and its key: customers:customer_id, products:product=id, or with a prefix "
        "for its columns products:product=id:product. Repeatable.",
    ),
    click.option(
        "--family",
        "families",
        type=FAMILY,
        multiple=True,
        help="The family of a column, instead of the one inferred from its type: visits=poisson, "
        "x='gaussian(variance=sample)', notes='text(stop_words=english,ngrams=2)', words='multinomial(w1,w2)'. Repeatable.",
    ),
    click.option(
        "--families",
        "more_families",
        type=FAMILIES_FILE,
        help="A file of families by column, YAML or JSON, in the format of meta.nbsql in dbt; --family takes precedence. "
        "For fit, auto chooses the families of all other columns by cross-validation, and --family x=auto that of one column.",
    ),
    click.option("--weight", metavar="COLUMN", help="A column of row weights: a weight w counts as w copies of the row."),
    click.option(
        "--half-life",
        callback=lambda _context, _option, text: _number_or_text(text),
        metavar="TIME",
        help="The age at which a row counts half: '30 days', or a number if --at is one. Counts can still be added.",
    ),
    click.option(
        "--at",
        metavar="COLUMN",
        help="For --half-life, the time of a row: a date, a timestamp or a whole number.",
    ),
    click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        default="naive",
        show_default=True,
        help="naive: features are independent in a class. joint: equal rows are counted. lda, qda: discriminant analysis. "
        "tan: each category may depend on one other. aode: the mean over models in which all depend on one. "
        "logistic: learnt weights. em: rows without a class are used, too.",
    ),
    click.option(
        "--shrinkage",
        callback=lambda _context, _option, text: _number_or_text(text),
        metavar="S",
        help="For lda and qda: of the covariance matrices, from 0 to 1, or ledoit-wolf. For tan and aode: pseudo-counts.",
    ),
    click.option(
        "--least",
        type=int,
        metavar="N",
        help="For aode, how often a value must occur for others to depend on it.  [default: 1]",
    ),
    click.option(
        "--backoff",
        type=click.Choice(["naive"]),
        help="How the joint method scores an unseen row; by default not at all.",
    ),
    click.option("--alpha", type=float, help="The pseudo-count of additive smoothing.  [default: 1; 0 for the joint method]"),
    click.option(
        "--estimate",
        type=click.Choice(["mean", "mode", "map", "mle"]),
        help="The estimate of parameters: the posterior mean or mode (map), or maximum likelihood (mle).  [default: mean]",
    ),
    click.option(
        "--prior",
        type=PRIOR,
        default="empirical",
        show_default=True,
        help="empirical, uniform, smoothed, or a probability for every label: no=0.9,yes=0.1",
    ),
    click.option(
        "--prior-alpha", type=float, metavar="FLOAT", help="The pseudo-count of the smoothed prior; by default alpha."
    ),
    click.option(
        "--nulls", type=click.Choice(get_args(Nulls)), default="skip", show_default=True, help="How a missing value is treated."
    ),
    click.option(
        "--unseen",
        type=click.Choice(get_args(Unseen)),
        default="skip",
        show_default=True,
        help="How a value that is new to the model is scored.",
    ),
]


naming_classes = click.option(
    "--classes", type=LABELS, help="All possible labels, including those to come later; others are refused."
)


def modelling(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the model to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(short_help="Fit a model to a table and store it in the database.")
@click.argument("database")
@click.argument("source")
@modelling
@click.option("--name", required=True, metavar="MODEL", help="The name of the model, and of its schema.")
@click.option(
    "--slice-by", metavar="EXPR", help="Count the rows by the value of an SQL expression: \"date_trunc('month', day)\"."
)
@click.option("--segment-by", metavar="EXPR", help="Fit one model for each segment, by an SQL expression: region.")
@click.option(
    "--segment-shrinkage",
    type=float,
    help="The pseudo-counts by which the whole enters a segment.  [default: 10]",
)
@naming_classes
@click.option(
    "--penalty", type=float, metavar="LAMBDA", help="For logistic, the penalty on the squared weights.  [default: 0.5]"
)
@click.option("--iterations", type=int, metavar="N", help="The most iterations of logistic and em.  [default: 100]")
@click.option(
    "--tolerance",
    type=float,
    metavar="T",
    help="The change at which the search ends: of a weight for logistic, of the relative log-likelihood for em.  "
    "[default: 1e-8; 1e-5 of em]",
)
@click.option("--em-weight", type=float, metavar="W", help="For em, the weight of a row without a class.  [default: 1]")
@click.option(
    "--components",
    type=COMPONENTS,
    help="Split every class, or some (yes=3,no=2), into K components by k-means on its numbers. A class is their mixture.",
)
@click.option("--replace", is_flag=True, help="Replace the model of that name.")
@with_formats(csv=FEATURES, sql="Print the statements instead of running them.")
def fit(database: str, source: str, *, name: str, target: str, replace: bool, form: Form, **given: Any) -> None:
    """Fit a naive Bayes model of the column --target of SOURCE, and store it in DATABASE as the schema --name.

    The family of a feature follows from the type of its column: text is categorical, BOOLEAN is bernoulli, numbers are
    gaussian, and lists of text are bags of tokens. If the fit fails, the database is unchanged.

    \b
      nbsql fit shop.duckdb customers --target churned --name churn --id customer_id
      nbsql fit mail.duckdb mail.csv --target label --name spam --family 'body=text(stop_words=english)'
    """  # noqa: D301 - \b keeps the lines
    check_new_database(database, source)
    options = {"target": nbsql.Target(target, given.pop("classes")), **chosen(given)}
    if form == "sql":
        _print(database, source, name, replace=replace, options=options)
        return
    with open_for_writing(database) as engine:
        with show_warnings(engine):
            options["prior"] = typed(engine, source, target, options["prior"])
            if isinstance(options["method"], Mixture):
                options["method"] = Mixture(typed(engine, source, target, options["method"].components))
            model = nbsql.fit(engine, source, name=name, replace=replace, **options)
        report(engine, database, model, form)
        if form == "table":
            _next(engine, database, model, source)


def chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of a fit from the options of a command."""
    options = {name: value for name, value in given.items() if name not in _ARGUMENTS}
    features = list(given["features"]) or None
    if given["best"] is not None and given["forward"] is not None:
        raise click.UsageError("choose one of --best and --forward")
    if given["best_by"] is not None and given["best"] is None:
        raise click.UsageError("--best-by goes with --best N, whose features it ranks")
    if given["forward"] is not None:
        options["features"] = Forward(given["forward"], among=features)
    elif given["best"] is not None:
        options["features"] = Best(given["best"], by=given["best_by"] or "mutual_information", among=features)
    else:
        options["features"] = features
    options["method"] = _classifier(given)
    if (given["half_life"] is None) != (given["at"] is None):
        raise click.UsageError("--half-life goes with --at, the column of when a row was")
    if given["half_life"] is not None:
        options["weight"] = HalfLife(given["half_life"], at=given["at"], weight=given["weight"])
    (options["prior"],) = smoothed([given["prior"]], given.get("prior_alpha"))
    if (shrinkage := given.get("segment_shrinkage")) is not None:
        if given["segment_by"] is None:
            raise click.UsageError("--segment-shrinkage goes with --segment-by, which makes the segments")
        options["segment_by"] = Segments(given["segment_by"], shrinkage=shrinkage)
    families = dict(given["families"])
    if given.get("more_families") == AUTO:
        if click.get_current_context().command.name != "fit":
            raise click.UsageError("--families auto is of fit; nbsql auto shows what it tries")
        return {**options, "families": with_auto(families)}
    return {**options, "families": {**(given.get("more_families") or {}), **families}}


def _classifier(given: Mapping[str, Any]) -> str | Classifier:
    """The method with its own options, which are separate options of the command."""
    name = given["method"]
    chosen = {option: given[option] for option in _OF_METHODS if given.get(option) is not None}
    arguments = {option.removeprefix("em_"): value for option, value in chosen.items()}
    kind: type[Classifier] = Mixture if name == "naive" and "components" in arguments else METHODS[name]
    for option, argument in zip(chosen, arguments, strict=True):
        if argument not in {field.name for field in fields(kind)}:
            flag = option.replace("_", "-")
            *others, last = _OF_METHODS[option]
            methods = f"{', '.join(others)} and {last}" if others else last
            raise click.UsageError(f"--{flag} is of --method {methods}, not of {name}")
    return kind(**arguments) if arguments else name


def smoothed(priors: Sequence[Any], alpha: float | None) -> list[Any]:
    """The priors, with the pseudo-count in those that are smoothed."""
    if alpha is not None and "smoothed" not in priors:
        raise click.UsageError("--prior-alpha is of --prior smoothed")
    return [Smoothed(alpha) if prior == "smoothed" and alpha is not None else prior for prior in priors]


def _print(database: str, source: str, name: str, *, replace: bool, options: dict[str, Any]) -> None:
    """Print the statements of a fit; a missing database counts as an empty one."""
    from pathlib import Path

    path = database if is_postgres(database) or Path(database).exists() else ":memory:"
    with open_for_reading(path) as engine:
        options["prior"] = typed(engine, source, options["target"].column, options["prior"])
        tables.sql(nbsql.fit_sql(engine, source, name=name, replace=replace, **options))


def typed(engine: Engine, source: str, target: str, prior: Any) -> Any:
    """The values by label, with labels in the target's type; unknown labels stay texts, which the fit refuses."""
    if not isinstance(prior, Mapping):
        return prior
    found = engine.source(source)
    for column in found.columns:
        if column.name.lower() == target.lower():
            classes = {label: value for value, label in engine.ask("labels", found.relation, column.name)}
            return {classes.get(label, label): probability for label, probability in prior.items()}
    return dict(prior)


def report(engine: Engine, database: str, model: nbsql.Model, form: Form = "table") -> None:
    """Print the inferred families, and the number of rows."""
    if form != "table":
        describe(engine, form, database, model)
        return
    tables.echo(heading(f"model {model.name} in {database}", model._spec), "")
    features = features_of(model._spec.features)
    if features.rows:
        tables.table(features.columns, features.rows[:ROWS], indent=2)
        if len(features.rows) > ROWS:
            more = tables.command("show", database, str(model.name), "--families")
            tables.echo(f"  … and {len(features.rows) - ROWS} more: {more}")
        tables.echo("")
    classes(engine, model)


def classes(engine: Engine, model: nbsql.Model) -> None:
    """Print the classes, the most probable first."""
    found = classes_of(engine, model._spec, model._relations)
    tables.table(found.columns, found.rows[:ROWS], right=found.right, indent=2)
    if len(found.rows) > ROWS:
        tables.echo(f"  … and {len(found.rows) - ROWS} more")


def _next(engine: Engine, database: str, model: nbsql.Model, source: str) -> None:
    name, dialect = str(model.name), engine.renderer.dialect
    table = "your_table" if " " in source.strip() or "." in source else source
    if isinstance(engine, DuckDB):
        schema, asked = (dialect.query(name) if _plain(engine, name) else dialect.ident(name)), dialect.text(table)
    else:
        schema, asked = (dialect.query(engine.ask("quoted_name", word)[0][0]) for word in (name, table))
    in_sql = engine.renderer.statement("example_call", schema, asked)
    tables.echo(
        "",
        "next:",
        f"  {tables.command('predict', database, name, source)}",
        f"  {tables.command('explain', database, name, source, '--row', '1')}",
        f"  {in_sql};    -- in SQL, from any client of {engine.title}",
    )


def _plain(engine: DuckDB, name: str) -> bool:
    """Whether a name needs no quotes in SQL."""
    if not name.isidentifier():
        return False
    try:
        engine.connection.extract_statements(f"FROM {name}.predict('x')")
    except duckdb.ParserException:
        return False
    return True
