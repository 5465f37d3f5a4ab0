"""PostgreSQL. Only `address` can be imported without psycopg."""
