"""`nbsql demo`: a fit, an evaluation and explanations on real flights, step by step."""

from pathlib import Path
from textwrap import fill

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import explained
from nbsql.cli.options import command, option
from nbsql.cli.session import open_for_writing, show_warnings
from nbsql.cli.terminal import styled
from nbsql.engines.duckdb.engine import DuckDB, on_duckdb
from nbsql.errors import DatabaseError
from nbsql.library import demo as demonstration
from nbsql.library.demo import NAME, TARGET, Demonstration

_MEANINGS = {"categorical": "how often each value occurs", "gaussian": "mean and spread"}  # of families


@command("See it work: predict which real flights arrive late.")
@option("--database", type=click.Path(), metavar="PATH", help="Keep the flights and the model in a new database file.")
@option("--sql", "as_sql", is_flag=True, help="Print the statements instead of running them.")
def demo(database: str | None, *, as_sql: bool) -> None:
    """Learn from real flights which of them arrive late, and evaluate the predictions on held-out flights.

    The data ships with nbsql. Without --database nothing is stored.

    \b
      nbsql demo
      nbsql demo --database flights.duckdb
    """
    if as_sql:
        _print_statements()
        return
    if database is not None and Path(database).exists():
        raise DatabaseError(f"{database!r} is there already; name a new file, or delete it first")
    with open_for_writing(database or ":memory:") as opened:
        engine = on_duckdb(opened, "nbsql demo")
        with show_warnings(engine), engine.transaction():
            found = demonstration.demonstrate(engine)
        _describe_fit(engine, found, database)


def _print_statements() -> None:
    """Print the statements. Those that later ones depend on run in memory."""
    engine = DuckDB(":memory:")
    try:
        demonstration.load_flights(engine)
        tables.sql("\n\n".join(f"-- {statement.name}\n{statement.sql};" for statement in demonstration.statements()) + "\n")
        tables.sql(nbsql.fit_sql(engine, "learnt", name=NAME, **demonstration.OPTIONS))
    finally:
        engine.close()


def _print_text(text: str) -> None:
    tables.echo(fill(" ".join(text.split()), min(tables.console().width, 100)), "")


def _print_heading(text: str) -> None:
    tables.echo(styled(text, bold=True), "")


def _describe_fit(engine: DuckDB, found: Demonstration, database: str | None) -> None:
    learnt, evaluation = found.learnt, found.evaluation
    held_back = evaluation.rows
    _print_heading("Will this flight arrive late?")
    _print_text(
        f"""{learnt + held_back:,} flights that left New York City in 2013. One counts as late if it lands more than 15
        minutes behind schedule. The model may use what is known when the flight leaves the gate; arrival and air time,
        known only afterwards, are left out."""
    )
    _print_heading(f"1. It learnt from {learnt:,} flights, the first 20 days of every month, in {found.seconds[0]:.2f} s")
    families = [[name, family.name, _MEANINGS.get(family.name, "")] for name, family in found.model.families.items()]
    tables.table(["column", "family", "what is learnt in each class"], families, indent=2)
    tables.echo("")
    _print_heading(
        f"2. It was evaluated on {held_back:,} flights of the other days, which it had not seen, in {found.seconds[1]:.2f} s"
    )
    always = max((row[1], row[0]) for row in found.model.priors)[1]
    tables.echo(
        f"  {tables.share(evaluation.accuracy):>7} of the predictions came true",
        f"  {tables.share(evaluation.majority):>7} would have, by calling every flight {always}",
        "",
    )
    _outcomes(found)
    _print_heading("3. Six of these flights, of 28 June, one o'clock: how they arrived, and what was predicted")
    columns = ["flight", "origin", "dest", "dep_delay", TARGET, "prediction", "probability"]
    rows = engine.connection.sql(found.model.sql("predict", "one_afternoon")).select(*columns).fetchall()
    tables.table(columns, [[*map(str, row[:-1]), tables.probability(row[-1])] for row in rows], right=[3, 6], indent=2, keep=2)
    tables.echo("")
    _print_heading("4. Why? Flight MQ3361, which left 25 minutes behind schedule, taken apart")
    explained(engine, found.model.sql("explain", "one_flight"), found.model.state.spec, 1)
    tables.echo("")
    _print_text(
        """A delay of 25 minutes is so many times likelier among late flights than among punctual ones, and so on for every
        value. The prior favours punctual, as most flights are. Multiplied, they are the odds."""
    )
    _print_next_steps(database)


def _outcomes(found: Demonstration) -> None:
    """The precision and the recall of the late flights, in words."""
    late = next(item for item in found.evaluation.classes if item.label == "late")
    called = sum(n for _, prediction, n in found.evaluation.confusion if prediction == "late")
    _print_text(
        f"""It called {called:,.0f} flights late, and {tables.share(late.precision or 0)} of them were. Of the
        {late.support:,.0f} that were late it found {tables.share(late.recall or 0)}."""
    )


def _print_next_steps(database: str | None) -> None:
    path = database or "flights.duckdb"
    _print_heading("Next")
    if database is None:
        _print_text("That was in memory and is gone. To keep the flights and the model:")
        tables.echo(f"  {tables.command('demo', '--database', path)}", "")
    tables.echo(
        "On the command line:",
        "",
        f"  {tables.command('show', path, NAME)}",
        f"  {tables.command('predict', path, NAME, 'one_afternoon')}",
        f"  {tables.command('explain', path, NAME, 'one_flight')}",
        f"  {tables.command('evaluate', path, NAME, 'held_back')}",
        "",
        f"In SQL, from any client of DuckDB (duckdb {path}):",
        "",
        f"  FROM {NAME}.predict('held_back');",
        f"  FROM {NAME}.likelihoods WHERE feature = 'carrier' ORDER BY likelihood DESC;",
        "",
        "In Python:",
        "",
        "  import nbsql",
        f"  model = nbsql.load({path!r}, {NAME!r})",
        "  model.predict('held_back').show()",
        "",
        "With data of your own, a CSV file say:",
        "",
        "  nbsql fit my.duckdb my.csv --target COLUMN --name MODEL",
    )
