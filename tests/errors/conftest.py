"""What these tests share: the table of golf."""

import pytest


@pytest.fixture
def golf(con):
    con.execute("""CREATE TABLE golf AS SELECT * FROM (VALUES
        ('sunny', 85, 1.5, FALSE, 'no', 1, 'hot and dry'), ('rain', 70, 2.5, TRUE, 'yes', 2, 'cool'),
        ('overcast', 64, 3.5, TRUE, 'yes', 1, 'mild'), ('sunny', 72, 2.0, FALSE, 'yes', 3, 'hot')
    ) AS golf(outlook, temperature, rainfall, windy, play, n, note)""")
    return con
