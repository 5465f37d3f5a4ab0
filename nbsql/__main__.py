"""`python -m nbsql`, the same as the command `nbsql`."""

from nbsql.cli import main

if __name__ == "__main__":
    main(prog_name="nbsql")
