"""How often gaps are filled with what was there, beside the commonest value of the column, on real tables.

    NBSQL_DATA=folder python tests/benchmarks/impute.py [--share 0.2] [--cuts 5]

Each cut of a table is a half to learn and a half to judge, by a hash of the row and the cut; a share of the values of the
judged half is hidden. What is printed, over all hidden values: the share that is filled in with the value that was
hidden, by the commonest value of the learnt half, through the class, and through the class of rows that have theirs, each with
its standard error over the cuts; and the mean probability that was told of what was filled in through the class.
"""

from __future__ import annotations

import argparse
import os
import warnings
from statistics import mean, stdev

import duckdb

import nbsql

TABLES = {
    "votes": ("FROM read_csv('{}/house_votes_84.csv', nullstr = '?')", "party"),
    "mushroom": ("FROM read_csv('{}/mushroom.csv.gz', nullstr = '?', all_varchar = true)", "class"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="How often gaps are filled with what was there.")
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--cuts", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    print("| table | columns | hidden a cut | the commonest value | through the class | probability told | class known |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (query, target) in TABLES.items():
        measure(name, query.format(os.environ["NBSQL_DATA"]), target, arguments.share, arguments.cuts)


def measure(name: str, query: str, target: str, share: float, cuts: int) -> None:
    """Print the line of a table."""
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS SELECT row_number() OVER () AS nb_row, * FROM ({query})")
    columns = [column for column in con.table("t").columns if column not in ("nb_row", target)]
    found: list[tuple[float, ...]] = []
    hidden = 0
    for cut in range(cuts):
        half = f"hash(nb_row * 1000 + {cut}) % 2"
        model = nbsql.fit(con, f"FROM t WHERE {half} = 0", target=target, exclude=["nb_row"], name="m", replace=True)
        gaps = ", ".join(
            f'CASE WHEN hash(nb_row * 100000 + {cut * 1000 + i}) / 2**64 >= {share} THEN "{column}" END AS "{column}"'
            for i, column in enumerate(columns)
        )
        source = f"SELECT nb_row, {target}, {gaps} FROM t WHERE {half} = 1"
        shares = []
        for labelled in (False, True):
            con.execute("DROP TABLE IF EXISTS filled")
            model.impute(source, labelled=labelled).create_table("filled")
            hits, told, total = 0, 0.0, 0
            for column in columns:
                added = f'f."probability_{column}"'
                judged = f'FROM filled AS f JOIN t USING (nb_row) WHERE {added} IS NOT NULL AND t."{column}" IS NOT NULL'
                right = f'count(CASE WHEN f."{column}" = t."{column}" THEN 1 END)'
                ((right, probability, count),) = con.execute(
                    f"SELECT {right}, coalesce(sum({added}), 0), count(*) {judged}"
                ).fetchall()
                hits, told, total = hits + right, told + probability, total + count
                if not labelled:
                    commonest = f'(SELECT mode("{column}") FROM t WHERE {half} = 0)'
                    ((common,),) = con.execute(
                        f'SELECT count(CASE WHEN t."{column}" = {commonest} THEN 1 END) {judged}'
                    ).fetchall()
                    shares.append(common)
            if not labelled:
                shares, hidden = [sum(shares) / total], total
                shares.append(hits / total)
                shares.append(told / total)
            else:
                shares.append(hits / total)
        found.append(tuple(shares))
    columns_of = list(zip(*found, strict=True))
    texts = [f"{mean(each):.4f} ± {stdev(each) / cuts**0.5:.4f}" for each in columns_of]
    texts[2] = f"{mean(columns_of[2]):.4f}"
    print(f"| {name} | {len(columns)} | {hidden} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
