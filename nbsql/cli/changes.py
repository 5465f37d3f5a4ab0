"""The commands that change a model over time, made from its verbs, and those that move, merge and make models of numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource

import nbsql
from nbsql.cli.answers import FEATURES, Form, describe, describing, print_done, with_formats, write_or_print
from nbsql.cli.arguments import FAMILY, PRIOR
from nbsql.cli.fit import classes, report
from nbsql.cli.fit_options import option_of_fit, takes
from nbsql.cli.options import by_name, command, naming, naming_classes, option, reads_model, replacing, together
from nbsql.cli.session import check_new_database, load_to_change, open_for_writing, show_warnings
from nbsql.cli.tables import echo, plain
from nbsql.cli.verbs import method_of, verb_command
from nbsql.errors import counted
from nbsql.family import Family

_Line = Sequence[Any]  # of the ledger: batch, operation, source, rows


def _change_command(verb: str, *examples: str, said: Callable[[Sequence[_Line], int], str]) -> click.Command:
    """The command of a verb that changes a model: `said` is what it did, from the ledger and how many lines it had before.

    The model is described afterwards; with --sql the statements are printed instead, and nothing changes.
    """

    def run(database: str, model: str, form: Form, **given: Any) -> None:
        if verb == "forget" and (given["source"] is None) == (given["batch"] is None):
            raise click.UsageError("name a SOURCE or a --batch, one of them")
        with write_or_print(database, form, rehearse=True) as engine:
            with show_warnings(engine):
                loaded = load_to_change(engine, model)
                before = len(loaded.batches.fetchall())
                method_of(verb)(loaded, **given)
                done = said(loaded.batches.fetchall(), before)
            if form == "table":
                echo(f"model {loaded.name} in {database} {done}", "")
                classes(loaded)
            elif form != "sql":
                describe(engine, form, database, loaded, change=done)

    return verb_command(verb, examples, describing(run))


def _rows(line: _Line) -> str:
    return f"{counted(line[3], 'row')} of {plain(line[2])}"


def _undone(ledger: Sequence[_Line], before: int) -> str:
    return f"is as it was after batch {plain(ledger[-1][0])}, {counted(before - len(ledger), 'later change')} undone"


def _followed(ledger: Sequence[_Line], _: int) -> str:
    """What a model has learnt from the table that it follows."""
    places = [place for place, line in enumerate(ledger) if line[1] in ("follow", "unfollow")]
    if not places or ledger[places[-1]][1] == "unfollow":
        return "follows no table, and has nothing to learn"
    table = ledger[places[-1]][2]
    learnt, forgotten = (
        sum(line[3] for line in ledger[places[-1] :] if line[1] == operation and line[2] == table)
        for operation in ("follow", "forget")
    )
    return f"follows {plain(table)}: {counted(learnt, 'row')} learnt, {counted(forgotten, 'row')} forgotten since then"


def _export(model: nbsql.Model, path: str, *, form: Form, **given: Any) -> None:
    model.export(path, **given)
    name = str(model.name)
    print_done(model.state.engine, form, f"model {name} written to {path}", model=name, path=path)


CHANGES = (
    _change_command(
        "update", "churn march.csv --batch 2026-03",
        said=lambda ledger, _: f"learnt {_rows(ledger[-1])}, batch {plain(ledger[-1][0])}",
    ),
    _change_command(
        "forget", "churn withdrawn", "churn --batch 2026-03", said=lambda ledger, _: f"forgot {_rows(ledger[-1])}"
    ),
    _change_command("follow", "churn customers", "churn customers --present learnt", said=_followed),
    _change_command("refresh", "churn", said=_followed),
    _change_command("unfollow", "churn", said=lambda ledger, _: f"follows {plain(ledger[-1][2])} no longer"),
    _change_command("rollback", "churn 2026-03", said=_undone),
    _change_command(
        "compact", "churn --through 2026-03",
        said=lambda ledger, _: f"has {ledger[0][2]} folded into one, batch {plain(ledger[0][0])}",
    ),
)  # fmt: skip

EXPORT = verb_command(
    "export", ["churn churn.parquet", "churn shared.parquet --least 10"], with_formats(sql=None)(reads_model(_export))
)


@command("Merge several models into one.", takes(nbsql.merge))
@with_formats(csv=FEATURES, sql=None)
def merge(database: str, models: tuple[str, ...], *, name: str, replace: bool, form: Form) -> None:
    """Merge MODELS of DATABASE, which have the same target and features. Only counts are read, never rows.

    \b
      nbsql merge shop.duckdb january february --name winter
    """
    with open_for_writing(database, create=False) as engine:
        report(engine, database, nbsql.merge(engine, list(models), name=name, replace=replace), form)


@command("Read a model from a file.", takes(nbsql.import_), name="import")
@with_formats(csv=FEATURES, sql=None)
def import_(database: str, path: str, *, name: str, replace: bool, form: Form) -> None:
    """Read the model that `nbsql export` wrote to PATH, on any engine.

    \b
      nbsql import other.duckdb churn.parquet --name churn
    """
    with open_for_writing(database) as engine:
        report(engine, database, nbsql.import_(engine, path, name=name, replace=replace), form)


@command("Make a model from given probabilities.", "database", "priors", "likelihoods?")
@naming
@option("--target", default="class", metavar="COLUMN", help="The name of the predicted column.")
@option_of_fit("id")
@by_name(
    "--family", "families", type=FAMILY,
    help="The family of a feature that is not categorical (likelihoods of values), Gaussian (mean and variance) or "
    "Poisson (rate). Repeatable.",
)  # fmt: skip
@replacing
@describing
def from_tables(
    database: str, priors: str, likelihoods: str | None, *, families: tuple[tuple[str, Family], ...], form: Form, **options: Any
) -> None:
    """Make a model from probabilities of an expert, a book or another system, and store it in DATABASE as the schema --name.

    PRIORS is a source with the columns class and prior. LIKELIHOODS has the columns class and feature, and value and
    likelihood (or log_likelihood), or mean and variance, or rate.

    \b
      nbsql from-tables shop.duckdb priors.csv likelihoods.csv --name tennis --target play
      nbsql from-tables shop.duckdb priors likelihoods --name calls --family 'wait=exponential'
    """
    check_new_database(database, priors)
    with write_or_print(database, form, create=True, rehearse=True) as engine:
        with show_warnings(engine):
            model = nbsql.from_tables(engine, priors=priors, likelihoods=likelihoods, families=dict(families), **options)
        report(engine, database, model, form)


@command("Make a model from counts made elsewhere.", "database", "statistics")
@option("--like", metavar="MODEL", help="A model whose features and options are copied.")
@naming
@option("--target", metavar="COLUMN", help="Without --like, the name of the predicted column.  [default: class]")
@option_of_fit("id")
@option("--weight", metavar="COLUMN", help="The column of row weights, for rows that the model learns later.")
@by_name(
    "--family", "families", type=FAMILY,
    help="Without --like, the family of a feature, if it does not follow from the cells. Repeatable.",
)  # fmt: skip
@option("--prior", type=PRIOR, help="empirical, uniform, smoothed, or no=0.9,yes=0.1.  [default: empirical]")
@naming_classes
@together(*map(option_of_fit, ("alpha", "estimate", "nulls", "unseen")))
@replacing
@describing
def from_statistics(database: str, statistics: str, *, form: Form, **given: Any) -> None:
    """Make a model from counts: those of ad_hoc.sql, or the result of `nbsql sql DATABASE statistics` on another engine.

    STATISTICS is a source with the columns class, feature, value, n, mean and m2. Without --like the family of every feature
    follows from its cells.

    \b
      nbsql from-statistics shop.duckdb counts --name churn --target churned --id customer_id
      nbsql sql shop.duckdb statistics churn shop.customers --dialect bigquery
      nbsql from-statistics shop.duckdb answer.csv --like churn --name churn_of_all
    """
    is_default = {ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP}
    source_of = click.get_current_context().get_parameter_source
    options = {name: value for name, value in given.items() if source_of(name) not in is_default}  # the others are of --like
    if "classes" in options:
        options["target"] = nbsql.Target(options.get("target", "class"), options.pop("classes"))
    if "families" in options:
        options["families"] = dict(options["families"])
    with write_or_print(database, form, rehearse=True) as engine:
        with show_warnings(engine):
            model = nbsql.from_statistics(engine, statistics, **options)
        report(engine, database, model, form)
