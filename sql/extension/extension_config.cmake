# Read by DuckDB's build, which finds the extension in this folder.
duckdb_extension_load(nbsql
    SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}
    LOAD_TESTS
)
