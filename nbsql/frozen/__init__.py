"""Models as one SELECT: for DuckDB without their tables, and for engines that no model lives in."""
