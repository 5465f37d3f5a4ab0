"""What a fit says where the family that a column's type suggests is of no use, and the line that cures it."""

import ast
import re
import warnings

import duckdb
import pytest

import nbsql
from nbsql.rendering.dialect import Dialect, plain_name


def said(con, source, **options):
    """The warnings of a fit with the families of the types, which a look at the values would change."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nbsql.fit(con, source, **{"infer": "types", **options})
    return [str(warning.message) for warning in caught]


@pytest.fixture
def shop(con):
    con.execute("""CREATE TABLE t AS SELECT
        7000 + i AS number, hash(i) % 90000 AS customer_id, 'a note of some words ' || i AS note, 'X-' || hash(i) AS code,
        hash(i + 7) % 2 AS flag_1, hash(i + 8) % 2 AS flag_2, 0 AS flag_3, hash(i + 9) % 2 AS flag_4, hash(i) % 2 AS paid,
        hash(i + 5) % 30 AS visits, 'k' || hash(i) % 40 AS kind, hash(i) % 1000 / 7 AS price, hash(i + 1) % 3 = 0 AS y
        FROM range(400) AS t(i)""")
    return con


ADVICE = [
    "'note' has 400 values in 400 rows, and is taken for a category; take it for a text: families={\"note\": nbsql.Text()}",
    "'code' has 400 values in 400 rows, and is taken for a category; leave it out: exclude=[\"code\"]",
    "'number' numbers the rows, and is taken for a quantity; leave it out: exclude=[\"number\"]",
    "'customer_id' is a key by its name, and is taken for a quantity; leave it out: exclude=[\"customer_id\"], "
    'or take it for a category: families={"customer_id": "categorical"}',
    "'flag_1', 'flag_2', 'flag_4', 'paid' hold 0 and 1 only, and are taken for quantities: "
    'families={"flag_*": "bernoulli", "paid": "bernoulli"}',
]


def test_each_default_of_no_use_is_named_once_with_its_cure(shop):
    assert said(shop, "t", target="y") == ["one value only in 'flag_3'; such a column tells no class from another", *ADVICE]


def test_the_cures_are_what_they_say(shop):
    families = {}
    exclude = []
    for line in ADVICE:
        for cure in re.findall(r"exclude=\[.*?\]", line)[:1]:
            exclude += eval(cure.removeprefix("exclude="))  # noqa: S307
        for cure in [] if "exclude" in line else re.findall(r"families=(\{.*\})", line):
            families |= eval(cure, {"nbsql": nbsql})  # noqa: S307
    (line,) = said(shop, "t", target="y", families=families, exclude=exclude)
    assert line.startswith("one value only in 'flag_3'")


def test_columns_that_the_same_word_keeps_from_being_numbers_share_a_line(con):
    sizes = [f"if(hash(i, {j}) % 9 = 0, 'NA', (hash(i, {j + 20}) % 50)::VARCHAR) AS \"größe {j}\"" for j in range(11)]
    columns = f"hash(i) % 2 AS y, {', '.join(sizes)}, if(i % 7 = 0, '?', (i % 31)::VARCHAR) AS b"
    lines = said(con, f"SELECT {columns} FROM range(400) AS t(i)", target="y")
    names = ", ".join(f"'größe {j}'" for j in sorted(range(11), key=str)[:8])
    assert [line for line in lines if "größe" in line] == [
        f"{names} and 3 more hold numbers but for 'NA', and are taken for categories; read them as such: missing=[\"NA\"]"
    ]
    assert any(line.startswith("'b' holds numbers but for '?' in 58 of 400 rows") for line in lines)


def test_a_repeated_header_is_no_class(con):
    con.execute("CREATE TABLE t AS SELECT ['a', 'b'][1 + i % 2] AS y, ['u', 'v'][1 + i // 2 % 2] AS x FROM range(60) AS t(i)")
    con.execute("INSERT INTO t VALUES ('y', 'x')")
    fact = "'y' is a class of 'y', in 1 of 61 rows, and 'x' has its own name, too, as where a header is repeated"
    assert said(con, "t", target="y") == [f'{fact}; leave such rows out: missing=["y", "x"]']
    assert said(con, "t", target="y", missing=["y", "x"]) == ["1 row of t has no 'y' and is left out"]
    assert said(con, "SELECT if(y = 'y', 'a', y) AS y, x FROM t", target="y") == []


def test_columns_of_numbers_that_are_written_alike_share_a_line(con):
    columns = ", ".join(f"i % {n} || ',5' AS \"{name}\"" for name, n in {"a b": 31, "c": 37}.items())
    (line,) = said(con, f"SELECT hash(i) % 2 AS y, {columns} FROM range(80) AS t(i)", target="y")
    fact, cure = line.split("read them as such: derive=")
    assert fact == "'a b', 'c' hold numbers, written as '0,5', and are taken for categories; "
    assert ast.literal_eval(cure) == {
        name: f"CAST(trim(replace({sql}, ',', '.')) AS DOUBLE)" for name, sql in {"a b": '"a b"', "c": "c"}.items()
    }


def test_words_that_may_be_values_are_missing_only_if_the_user_says_so(con):
    cards = "CASE WHEN i % 13 < 10 THEN (i % 13)::VARCHAR ELSE ['J', 'Q', 'K'][i % 13 - 9] END"
    read = 'if these only say that a value is missing: missing=["J", "K", "Q"]'
    (line,) = said(con, f"SELECT hash(i) % 2 AS y, {cards} AS a FROM range(52) AS t(i)", target="y")
    assert line == f"'a' holds numbers but for 'J', 'K', 'Q' in 12 of 52 rows, and is taken for a category; {read}"
    (line,) = said(con, f"SELECT hash(i) % 2 AS y, {cards} AS a, {cards} AS b FROM range(52) AS t(i)", target="y")
    assert line == f"'a', 'b' hold numbers but for 'J', 'K', 'Q', and are taken for categories; {read}"


@pytest.mark.parametrize("name", ["Freq", "n", "count_star()"])
def test_a_count_of_the_rows_of_another_table_is_a_weight(con, name):
    size = "(i % 4)::VARCHAR" if name == "n" else "i % 4"  # beside numbers, n may be anything
    con.execute(
        f"CREATE TABLE days AS SELECT hash(i) % 2 AS y, 'p' || hash(i, 1) % 3 AS a, {size} AS b FROM range(500) AS t(i)"
    )
    con.execute(f'CREATE TABLE sums AS SELECT y, a, b, count(*) AS "{name}" FROM days GROUP BY ALL')
    (line,) = said(con, "sums", target="y")
    cure = f'if so, take it for their weight: weight="{name}"'
    assert line == f"'{name}' counts rows by its name, and no two rows differ in it alone; {cure}"
    (line,) = said(con, con.table("sums").df(), target="y")
    assert line.startswith(f"'{name}' counts rows by its name")
    families = dict.fromkeys(["a", "b"], "categorical")
    assert said(con, "sums", target="y", weight=name, families=families) == []
    model = nbsql.fit(con, "sums", target="y", weight=name, families=families)
    assert sorted(model.priors) == sorted(nbsql.fit(con, "days", target="y", families=families).priors)
    assert said(con, "FROM sums UNION ALL FROM sums LIMIT 48", target="y") == []
    assert said(con, f'SELECT * RENAME ("{name}" AS visits) FROM sums', target="y") == []
    assert said(con, "SELECT *, random() AS x FROM sums", target="y") == []  # no table sums up other rows by fractions


def test_a_column_of_some_texts_may_be_left_out_or_taken_for_a_text(con):
    note = "CASE i % 3 WHEN 0 THEN 'sehr gut ' || i WHEN 1 THEN 'gut' || i END"
    (line,) = said(con, f"SELECT i % 2 AS y, coalesce({note}, 'NA') AS \"Geräusch\" FROM range(900) AS t(i)", target="y")
    assert line == (
        "'Geräusch' has 601 values in 900 rows, and is taken for a category; "
        'leave it out: exclude=["Geräusch"], or take it for a text: families={"Geräusch": nbsql.Text()}'
    )


def test_what_was_asked_for_is_not_spoken_of(shop):
    families = {
        "note": "categorical",
        "code": nbsql.Categorical(),
        "number": "gaussian",
        "*_id": "gaussian",
        "flag*": "poisson",
    }
    assert said(shop, "t", target="y", families={**families, "paid": nbsql.Gaussian()}) == []
    assert said(shop, "t", target="y", features=["flag_1", "paid"], method="logistic") == []  # where 0 and 1 are as good
    assert said(shop, "FROM t LIMIT 100", target="y", features=["note", "number", "paid"]) == []  # too few to tell


def test_joint_values_that_hardly_occur_twice_are_named_with_the_backoff_that_predicts_others(shop):
    (line,) = said(shop, "t", target="y", features=["number", "kind"], method="joint")
    assert line == (
        "'number', 'kind' have 400 combinations of values in 400 rows, and others have no prediction; "
        'fall back on each column by itself: method=nbsql.JointBayes(backoff="naive")'
    )
    assert said(shop, "t", target="y", features=["visits", "kind"], method=nbsql.JointBayes(backoff="naive")) == []
    assert said(shop, "t", target="y", features=["paid", "kind"], method="joint") == []  # 80 combinations


def test_a_target_that_is_a_quantity_is_named_with_the_line_that_makes_classes_of_it(shop):
    shop.execute("CREATE TABLE sales AS SELECT i % 7 AS day, i % 250 AS sold FROM range(1000) AS t(i)")
    (line,) = said(shop, "sales", target="sold")
    cure = re.fullmatch(
        "'sold' has 250 classes in 1,000 rows, as a quantity has; predict whether it is high: "
        r'derive=(\{"sold_high": "sold > 124"\}), target="sold_high", exclude=\["sold"\]',
        line,
    )
    roles = {"derive": ast.literal_eval(cure[1]), "target": "sold_high", "exclude": ["sold"]}
    assert said(shop, "sales", **roles) == []
    assert sorted(row[1] for row in nbsql.fit(shop, "sales", **roles).priors) == [500, 500]
    text = "CASE WHEN i % 9 THEN (i / 8)::VARCHAR ELSE 'NA' END AS text"
    wide = "SELECT (i::HUGEINT * 10**30)::DECIMAL(38, 0) AS y, i % 5 AS x FROM range(1, 151) AS t(i)"
    assert any("'y' has 15 classes in 15 rows, as a quantity" in each for each in said(shop, f"{wide} LIMIT 15", target="y"))
    with pytest.raises(nbsql.InputError, match="'y' has 150 classes in 150 rows, as a quantity has"):
        nbsql.fit(shop, wide, target="y")
    few = f"SELECT i % 7 AS day, i / 8 AS sold, {text} FROM range(300) AS t(i)"
    line = said(shop, f"{few} LIMIT 40", target="sold", exclude=["text"])[-1]
    assert line == (
        "'sold' has 40 classes in 40 rows, as a quantity has; predict whether it is high: "
        'derive={"sold_high": "sold > 2.375"}, target="sold_high", exclude=["sold"]'
    )
    line = said(shop, f"{few} LIMIT 40", target="text", exclude=["sold"])[-1]
    assert '36 classes in 40 rows, as a quantity has; predict whether it is high: derive={"text_high": "TRY_CAST(' in line
    derive = ast.literal_eval(re.search("derive=({.*?})", line)[1])
    with pytest.warns(nbsql.NbsqlWarning, match="^5 rows of the query have no 'text_high' and are left out$"):
        model = nbsql.fit(shop, f"{few} LIMIT 40", derive=derive, target="text_high", exclude=["text"])
    assert sorted(row[1] for row in model.priors) == [17, 18]
    assert "as a quantity" not in "".join(said(shop, few, target="day"))  # 7 classes
    assert said(shop, "SELECT i % 40 AS y, hash(i) % 5 AS x FROM range(90) AS t(i)", target="y") == []
    line = said(shop, "SELECT 'c' || i AS y, hash(i) % 5 AS x FROM range(30) AS t(i)", target="y")[-1]
    assert line.startswith("'y' has 30 classes in 30 rows, too few to learn them by; predict something coarser")
    (line,) = said(shop, "SELECT 'c' || i % 150 AS y, i % 5 AS x FROM range(600) AS t(i)", target="y")
    assert line.startswith("'y' has 150 classes in 600 rows, too few to learn them by; predict something coarser")
    assert said(shop, "SELECT 'c' || i % 150 AS y, i % 5 AS x FROM range(6000) AS t(i)", target="y") == []


@pytest.mark.parametrize("sql", ["i + 0.5", "CAST(i AS DECIMAL(9, 2)) / 3", "i * 7"])
def test_a_target_of_as_many_numbers_as_rows_is_refused_with_the_line_that_makes_classes_of_it(con, sql):
    con.execute(f'CREATE TABLE sales AS SELECT i % 7 AS day, {sql} AS "order" FROM range(2000) AS t(i)')
    for verb in (nbsql.fit, lambda *given, **options: nbsql.cross_validate(*given, **options).accuracy):
        with pytest.raises(nbsql.InputError, match="'order' has 2,000 classes in 2,000 rows, as a quantity has") as caught:
            verb(con, "sales", target="order")
    cure = re.search(r'derive=(\{.*\}), target="order_high", exclude=\["order"\], or cast it to text', str(caught.value))
    model = nbsql.fit(con, "sales", derive=ast.literal_eval(cure[1]), target="order_high", exclude=["order"])
    assert sorted(row[1] for row in model.priors) == [1000, 1000]


@pytest.mark.few
@pytest.mark.parametrize(
    ("file", "target", "columns"),
    [
        ("adult.csv.gz", "income", []),
        ("house_votes_84.csv", "party", []),
        ("iris.csv", "species", []),
        ("mushroom.csv.gz", "class", []),
        ("nycflights13_flights.parquet", "origin", []),
        ("sms_spam.csv.gz", "label", ["message", "id"]),
        ("titanic_train.csv", "Survived", ["Name", "Ticket", "Cabin", "PassengerId"]),
        ("newsgroups_6.parquet", "newsgroup", ["doc_id", "text"]),
    ],
)
def test_real_tables_are_spoken_of_where_it_helps(con, data, file, target, columns):
    lines = [line for line in said(con, str(data / file), target=target) if not line.startswith("one value only")]
    assert [line.split("'")[1] for line in lines] == columns


@pytest.mark.nightly
def test_the_cure_of_forest_cover_is_short_and_cures(con, data):
    (line,) = [line for line in said(con, str(data / "covtype_20k.parquet"), target="cover_type") if "hold 0 and 1" in line]
    assert line.endswith('and are taken for quantities: families={"wilderness_*": "bernoulli", "soil_*": "bernoulli"}')
    accuracies = []
    for families in ({}, {"wilderness_*": "bernoulli", "soil_*": "bernoulli"}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = nbsql.fit(con, str(data / "covtype_20k.parquet"), target="cover_type", families=families, infer="types")
        accuracies.append(model.evaluate(str(data / "covtype_20k.parquet")).accuracy)
    assert accuracies[0] < 0.5 < 0.6 < accuracies[1]


def test_patterns_choose_families_and_names_win(shop):
    shop.execute('CREATE TABLE starred AS SELECT 1 AS "w*", 2 AS w1, 3 AS W22, 4.5 AS v1, TRUE AS y')

    def found(**families):
        return {name: str(family) for name, family in nbsql.families(shop, "starred", target="y", families=families).items()}

    assert found(**{"w?": "poisson"}) == {"w*": "poisson", "w1": "poisson", "W22": "gaussian", "v1": "gaussian"}
    assert found(**{"w*": "poisson"}) == {"w*": "poisson", "w1": "gaussian", "W22": "gaussian", "v1": "gaussian"}
    assert found(**{"?*": "exponential", "w1": "poisson"})["w1"] == "poisson"
    assert found(**{"w1": "poisson", "?*": "exponential"}) == {
        "w*": "exponential",
        "w1": "poisson",
        "W22": "exponential",
        "v1": "exponential",
    }
    counts = nbsql.Multinomial(["w1", "W22"])
    assert found(**{"words": counts, "w?": "poisson"})["words"] == "multinomial"
    with pytest.raises(nbsql.InputError, match=r"^families has 'soil_\*', which no feature matches; they are 'w\*', 'w1', 'W"):
        found(**{"soil_*": "bernoulli"})
    with pytest.raises(nbsql.InputError, match=r"^column 'w1' matches '\?1' and 'w\?' of families; give it by its name$"):
        found(**{"?1": "poisson", "w?": "exponential", "w*": "poisson"})
    assert found(**{"?1": "poisson", "w?": "poisson"})["w1"] == "poisson"
    with pytest.raises(nbsql.InputError, match=r"^column 'note' is VARCHAR, which family 'poisson' does not take"):
        nbsql.families(shop, "t", target="y", families={"n*": "poisson"})


def test_the_names_that_cures_write_without_quotes_are_no_words_of_the_engine(con):
    """A column may be called "at" or "by"; other words, such as "date" or "name", need no quotes."""
    broken = []
    for (word,) in con.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall():
        name = plain_name(Dialect("duckdb"), word)
        try:
            con.execute(f'SELECT CAST({name} AS DOUBLE) AS x, {name} + 1 FROM (SELECT 1 AS "{word}") AS t')
        except duckdb.ParserException:
            broken.append(word)
    assert broken == []
    assert plain_name(Dialect("duckdb"), "date") == "date"
