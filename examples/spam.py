"""Spam among text messages (SMS Spam Collection): words cut, counted and scored in the database, compared with scikit-learn.

Run: python examples/spam.py PATH/sms_spam.csv.gz
"""

import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import nbsql

if len(sys.argv) != 2:
    sys.exit(__doc__)

with tempfile.TemporaryDirectory() as folder:
    database = Path(folder) / "phone.duckdb"
    con = duckdb.connect(database)
    con.execute("CREATE TABLE messages AS SELECT id, label, message FROM read_csv(?)", [sys.argv[1]])
    # Three in four messages are for training, by a hash of the key: the same ones on every machine and in every run.
    con.execute("CREATE TABLE train AS FROM messages WHERE md5_number_lower(CAST(id AS VARCHAR)) % 4 > 0")
    con.execute("CREATE TABLE inbox AS FROM messages WHERE md5_number_lower(CAST(id AS VARCHAR)) % 4 = 0")

    # A VARCHAR is a category by default; this one is text. A word is a run of letters and digits, in lower case.
    model = nbsql.fit(con, "train", target="label", name="spam", id="id", families={"message": nbsql.Text()})

    ours = model.joint_log_likelihood("SELECT * FROM inbox ORDER BY id").df()
    train = con.sql("FROM train ORDER BY id").df()
    con.close()

    # The model is in the file. From here on everything is plain SQL, so this could be another process, or the DuckDB shell.
    con = duckdb.connect(database, read_only=True)
    hits, false_alarms, missed, right, everything = con.execute("""
        SELECT
            count(*) FILTER (prediction = 'spam' AND label = 'spam'),
            count(*) FILTER (prediction = 'spam' AND label = 'ham'),
            count(*) FILTER (prediction = 'ham' AND label = 'spam'),
            count(*) FILTER (prediction = label),
            count(*)
        FROM spam.predict('inbox')
    """).fetchone()
    accuracy, precision, recall = right / everything, hits / (hits + false_alarms), hits / (hits + missed)
    print(f"{everything} messages never seen: accuracy {accuracy:.2%}, precision of spam {precision:.2%}, recall {recall:.2%}")
    assert accuracy > 0.98
    assert precision > 0.95
    assert recall > 0.9

    words = con.execute("""
        SELECT spam.value, exp(spam.log_likelihood - ham.log_likelihood) AS times
        FROM spam.likelihoods AS spam
        JOIN spam.likelihoods AS ham ON ham.value = spam.value AND ham.class = 'ham'
        WHERE spam.class = 'spam'
        ORDER BY times DESC, spam.value
        LIMIT 8
    """).fetchall()
    print("words that speak for spam:", ", ".join(f"{word} ({times:.0f}x)" for word, times in words))
    assert "claim" in dict(words)
    con.close()

# The same in scikit-learn, on the messages fetched into memory. Words are runs of letters and digits; no message has a mark:
vectorizer = CountVectorizer(token_pattern=r"[^\W_]+")  # noqa: S106 - not a password
theirs = MultinomialNB().fit(vectorizer.fit_transform(train["message"]), train["label"])
jll = theirs.predict_joint_log_proba(vectorizer.transform(ours["message"]))
columns = [f"joint_log_likelihood_{label}" for label in theirs.classes_]
difference = np.max(np.abs(ours[columns].to_numpy() / jll - 1))
print(f"greatest relative difference from scikit-learn: {difference:.1e}")
assert difference < 1e-9
assert right == np.sum(theirs.classes_[jll.argmax(axis=1)] == ours["label"])
