"""The PostgreSQL engine. Only `address` can be imported without psycopg."""
