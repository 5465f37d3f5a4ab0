"""`nbsql fit`: fits a model, and shows what it made of the columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, get_args

import click
import duckdb

import nbsql
from nbsql.cli import tables
from nbsql.cli.arguments import ComponentsType, FamilyType, PriorType
from nbsql.cli.joins import JoinType
from nbsql.cli.session import check_new_database, reading, recording, told, writing
from nbsql.engines.duckdb import DuckDB
from nbsql.engines.engine import Engine
from nbsql.family import Family, Nulls, Unseen
from nbsql.family.stop_words import STOP_WORDS
from nbsql.method import METHODS
from nbsql.places import is_postgres
from nbsql.selection import Best, By, Forward

_ROWS = 30  # of a table that is no answer but a report

_DEFAULTS = {"alpha": 1.0, "nulls": "skip", "unseen": "skip", "estimate": "mean"}


def _number_or_text(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


# What to model, for every command that fits or judges a fit.
_OPTIONS = [
    click.option("--target", required=True, metavar="COLUMN", help="The column to predict."),
    click.option(
        "--id", "id", multiple=True, metavar="COLUMN", help="A key column: no feature; named in explanations. Repeatable."
    ),
    click.option(
        "--feature",
        "features",
        multiple=True,
        metavar="COLUMN",
        help="A feature; by default every other column. Repeatable.",
    ),
    click.option("--best", type=click.IntRange(min=1), metavar="N", help="Keep the N features that tell most of the class."),
    click.option(
        "--forward",
        type=click.IntRange(min=1),
        metavar="N",
        help="Take up to N features one by one, each lowering the cross-validated log loss most.",
    ),
    click.option(
        "--best-by",
        type=click.Choice(get_args(By)),
        help="What --best ranks by.  [default: mutual_information]",
    ),
    click.option("--exclude", multiple=True, metavar="COLUMN", help="A column to leave out. Repeatable."),
    click.option(
        "--join",
        "joins",
        type=JoinType(),
        multiple=True,
        help="A dimension table that features live in, by its key: customers:customer_id, products:product=id, or with a "
        "prefix for its columns products:product=id:product_. Repeatable.",
    ),
    click.option(
        "--family",
        "families",
        type=FamilyType(),
        multiple=True,
        help="The family of a column where the one inferred from its type will not do: visits=poisson, "
        "x='gaussian(variance=sample)', notes='text(stop_words=english,ngrams=2)', words='multinomial(w1,w2)'. Repeatable.",
    ),
    click.option("--weight", metavar="COLUMN", help="Row weights: a weight w counts as w copies of the row."),
    click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        default="naive",
        show_default=True,
        help="naive: features are independent in a class. joint: equal rows are counted. lda, qda: discriminant analysis. "
        "logistic: weights that are learnt.",
    ),
    click.option(
        "--shrinkage",
        callback=lambda _context, _option, text: _number_or_text(text),
        metavar="S",
        help="Of the covariance matrices of lda and qda: a number from 0 to 1, or ledoit-wolf.",
    ),
    click.option(
        "--backoff", type=click.Choice(["naive"]), help="How the joint method scores a row never seen; by default not at all."
    ),
    click.option("--alpha", type=float, help="The pseudo-count of additive smoothing.  [default: 1; 0 for the joint method]"),
    click.option(
        "--estimate",
        type=click.Choice(["mean", "mode", "map", "mle"]),
        help="Of every parameter: the mean of its posterior, its mode (map), or maximum likelihood (mle).  [default: mean]",
    ),
    click.option(
        "--prior",
        type=PriorType(),
        default="empirical",
        show_default=True,
        help="empirical, uniform, smoothed, or a probability for every label: no=0.9,yes=0.1",
    ),
    click.option("--prior-alpha", type=float, metavar="FLOAT", help="Pseudo-count of the smoothed prior; by default alpha."),
    click.option(
        "--nulls", type=click.Choice(get_args(Nulls)), default="skip", show_default=True, help="What a missing value is."
    ),
    click.option(
        "--unseen",
        type=click.Choice(get_args(Unseen)),
        default="skip",
        show_default=True,
        help="What a value new to the model is.",
    ),
]


def modelling(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say what to model."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(short_help="Fit a model to a table and keep it in the database.")
@click.argument("database")
@click.argument("source")
@modelling
@click.option("--name", required=True, metavar="MODEL", help="The name of the model, and of its schema.")
@click.option(
    "--slice-by", metavar="EXPR", help="Keep statistics by the value of an SQL expression: \"date_trunc('month', day)\"."
)
@click.option(
    "--segment-by", metavar="EXPR", help="A model a segment, by the value of an SQL expression: region. Rows go by their own."
)
@click.option(
    "--segment-shrinkage",
    type=float,
    help="Pseudo-counts by which a segment leans on the whole.  [default: 10]",
)
@click.option("--penalty", type=float, metavar="LAMBDA", help="Of the squared weights of logistic.  [default: 0.5]")
@click.option("--iterations", type=int, metavar="N", help="Of logistic, at most.  [default: 100]")
@click.option("--tolerance", type=float, metavar="T", help="The change of a weight at which logistic ends.  [default: 1e-8]")
@click.option(
    "--components",
    type=ComponentsType(),
    help="Split every class into K parts by k-means on its numbers, or some classes: yes=3,no=2. A class is their mixture.",
)
@click.option("--replace", is_flag=True, help="Take the place of the model of that name.")
@click.option("--sql", "as_sql", is_flag=True, help="Print the statements instead of running them.")
def fit(database: str, source: str, *, name: str, target: str, replace: bool, as_sql: bool, **given: Any) -> None:
    """Fit a naive Bayes model of the column --target of SOURCE, and keep it in DATABASE as the schema --name.

    The family of every feature follows from its column's type: text is categorical, BOOLEAN bernoulli, numbers are
    gaussian, lists of text are bags of tokens. The model is there whole, or nothing has changed.

    \b
      nbsql fit shop.duckdb customers --target churned --name churn --id customer_id
      nbsql fit mail.duckdb mail.csv --target label --name spam --family 'body=text(stop_words=english)'
    """  # noqa: D301 - \b keeps the lines
    check_new_database(database, source)
    options = chosen(given)
    if as_sql:
        _print(database, source, name, replace=replace, options={"target": target, **options})
        return
    with writing(database) as engine:
        with told(engine):
            options["prior"] = typed(engine, source, target, options["prior"])
            options["components"] = typed(engine, source, target, options["components"])
            model = nbsql.fit(engine, source, target=target, name=name, replace=replace, **options)
        report(engine, database, model)
        _next(engine, database, model, source)


def chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command as the keyword arguments of a fit."""
    options = {name: value for name, value in given.items() if name not in ("best", "best_by", "forward")}
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
    return {**options, "families": dict(given["families"])}


def _print(database: str, source: str, name: str, *, replace: bool, options: dict[str, Any]) -> None:
    """Print what a fit would run; a database that is not there yet would be an empty one."""
    from pathlib import Path

    path = database if is_postgres(database) or Path(database).exists() else ":memory:"
    if replace and path == database:
        with recording(path) as recorder:
            if name.lower() in map(str.lower, nbsql.models(recorder)):
                nbsql.load(recorder, name).drop()
                tables.sql("\n\n".join(recorder.statements) + "\n")
    with reading(path) as engine:
        options["prior"] = typed(engine, source, options["target"], options["prior"])
        tables.sql(nbsql.fit_sql(engine, source, name=name, **options))


def typed(engine: Engine, source: str, target: str, prior: Any) -> Any:
    """What is given by label with the labels in the target's own type; labels of no class stay text, for the fit to refuse."""
    if not isinstance(prior, Mapping):
        return prior
    found = engine.source(source)
    for column in found.columns:
        if column.name.lower() == target.lower():
            classes = {label: value for value, label in engine.ask("labels", found.relation, column.name)}
            return {classes.get(label, label): probability for label, probability in prior.items()}
    return dict(prior)


def report(engine: Engine, database: str, model: nbsql.Model) -> None:
    """What was inferred, and from how many rows."""
    features = list(model.families.items())
    count = f"{len(features)} feature{'' if len(features) == 1 else 's'}"
    tables.echo(f"model {model.name} in {database}: predicts {model.target} from {count}", "")
    if features:
        rows = [[name, family.name, differing(family)] for name, family in features]
        tables.table(["feature", "family", "options"], rows[:_ROWS], indent=2)
        if len(rows) > _ROWS:
            tables.echo(f"  … and {len(rows) - _ROWS} more: {tables.command('show', database, str(model.name), '--families')}")
        tables.echo("")
    classes(engine, model)


def classes(engine: Engine, model: nbsql.Model) -> None:
    """The classes, the most probable first."""
    priors = engine.renderer.dialect.query(model.priors.sql)
    rows = sorted(engine.ask("as_text", priors, engine.names(model.priors.sql)), key=lambda row: -float(row[2]))
    shown = [
        [label, tables.number(float(n)) if n is not None else "", tables.share(float(prior))]
        for label, n, prior, _ in rows[:_ROWS]
    ]
    tables.table([f"class of {model.target}", "rows", "prior"], shown, right=[1, 2], indent=2)
    if len(rows) > _ROWS:
        tables.echo(f"  … and {len(rows) - _ROWS} more")


def differing(family: Family, *, complete: bool = False) -> str:
    """The options of a family that are not as they would be if nothing had been asked for; or all that are set."""
    parts = []
    for field in fields(family):
        value = getattr(family, field.name)
        usual = _DEFAULTS.get(field.name, field.default)
        if field.name == "ngrams":
            usual = (1, 1)
        if field.name == "columns":
            parts.extend(value)
        elif value is not None and value != () and (complete or value != usual):
            parts.append(f"{field.name}={_shown(value)}")
    return ", ".join(parts)


def _shown(value: Any) -> str:
    named = [name for name, words in STOP_WORDS.items() if value == words]
    if named:
        return named[0]
    if isinstance(value, tuple) and len(value) > 4:
        return f"({len(value)} of them)"
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(str, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _next(engine: Engine, database: str, model: nbsql.Model, source: str) -> None:
    name, dialect = str(model.name), engine.renderer.dialect
    table = "your_table" if " " in source.strip() or "." in source else source
    if isinstance(engine, DuckDB):
        schema, asked = (dialect.query(name) if _plain(engine, name) else dialect.ident(name)), dialect.text(table)
    else:
        schema, asked = (dialect.query(engine.ask("quoted_name", word)[0][0]) for word in (name, table))
    in_sql = engine.renderer.statement("used_in_sql", schema, asked)
    tables.echo(
        "",
        "next:",
        f"  {tables.command('predict', database, name, source)}",
        f"  {tables.command('explain', database, name, source, '--row', '1')}",
        f"  {in_sql};    -- in SQL, from any client of {engine.title}",
    )


def _plain(engine: DuckDB, name: str) -> bool:
    """Whether a name can stand in SQL without quotes."""
    if not name.isidentifier():
        return False
    try:
        engine.connection.extract_statements(f"FROM {name}.predict('x')")
    except duckdb.ParserException:
        return False
    return True
