"""Which health facilities of Nigeria offer maternal delivery services? The NMIS survey, after a lecture by Neil Lawrence. One
model has services that exist or not (Bernoulli), counts of staff (Poisson), and the location (Gaussian).

Run: python examples/facilities.py PATH/nmis_niger_state.csv.gz
"""

import math
import sys

import duckdb

import nbsql

if len(sys.argv) != 2:
    sys.exit(__doc__)

TARGET = "maternal_health_delivery_services"
STAFF = ["num_chews_fulltime", "num_nurses_fulltime", "num_doctors_fulltime"]
SERVICES = [
    "emergency_transport", "phcn_electricity", "c_section_yn", "child_health_measles_immun_calc", "improved_water_supply",
    "improved_sanitation", "vaccines_fridge_freezer", "antenatal_care_yn", "family_planning_yn",
    "malaria_treatment_artemisinin",
]  # fmt: skip

con = duckdb.connect()
# TRUE, FALSE and NA become a BOOLEAN with NULL. A facility without an answer can be used neither to fit nor to evaluate.
con.execute(
    f"""
    CREATE TABLE facilities AS
    SELECT *, md5_number_lower(facility_id) % 3 = 0 AS held_back
    FROM read_csv(?, nullstr = 'NA')
    WHERE {TARGET} IS NOT NULL
    """,
    [sys.argv[1]],
)
con.execute("CREATE VIEW train AS FROM facilities WHERE NOT held_back")
con.execute("CREATE VIEW test AS FROM facilities WHERE held_back")


((majority,),) = con.sql(f"SELECT count(*) FILTER ({TARGET}) / count(*) FROM test").fetchall()
print(f"share of facilities that do:        {majority:.1%}")

# The same features, with three families for the counts of staff. Most facilities have no staff, a few have very many.
accuracy = {}
for family in ("gaussian", "poisson", "categorical"):
    model = nbsql.fit(
        con,
        "train",
        target=TARGET,
        name=f"births_{family}",
        id=["facility_id", "facility_name"],
        features=[*SERVICES, *STAFF, "latitude", "longitude"],
        families=dict.fromkeys(STAFF, family),
        infer="types",
    )
    scored = model.predict("test").relation
    ((accuracy[family],),) = scored.aggregate(f"count(*) FILTER (prediction = {TARGET}) / count(*)").fetchall()
    print(f"accuracy with {family + ' staff:':<21} {accuracy[family]:.1%}")
assert accuracy["gaussian"] < majority  # one normal distribution cannot fit both no doctor and seventy-two doctors
assert accuracy["poisson"] > majority + 0.04
assert accuracy["categorical"] > majority + 0.07

model = nbsql.load(con, "births_poisson")
assert str(model.families["phcn_electricity"]) == "bernoulli"  # inferred from BOOLEAN
assert str(model.families["latitude"]) == "gaussian"  # inferred from DOUBLE

print("births attended -> predicted:")
confusion = con.sql(f"""
    SELECT {TARGET} AS truth, prediction, count(*) AS n FROM births_poisson.predict('test') GROUP BY ALL ORDER BY ALL
""").fetchall()
for truth, prediction, n in confusion:
    print(f"  {truth!s:>5} -> {prediction!s:<5} {n:4}")
right = sum(n for truth, prediction, n in confusion if truth == prediction)
assert right / sum(n for *_, n in confusion) == accuracy["poisson"]

# P(y | x) of one facility, taken apart into the factors of its odds.
con.execute("CREATE TABLE one AS FROM test WHERE facility_name LIKE '%Hospital%' ORDER BY facility_id LIMIT 1")
((name, p),) = model.predict_proba("one").relation.project("facility_name, probability_true").fetchall()
print(f"P(births attended | {name}) = {p:.3f}, odds that are the product of:")
odds = 1.0
model.explain("one").create_view("why")
for feature, value, factor in con.sql("""
    SELECT feature, value, exp(sum(if(class, contribution, -contribution))) AS factor
    FROM why GROUP BY feature, value ORDER BY feature NULLS FIRST
""").fetchall():
    odds *= factor
    print(f"  {feature or 'prior':<34} {value or '':<18} {factor:6.2f}")
assert math.isclose(odds, p / (1 - p), rel_tol=1e-9)
