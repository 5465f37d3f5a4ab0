#define DUCKDB_EXTENSION_MAIN

#include "nbsql_extension.hpp"
#include "nbsql_macros.hpp" // written by nbsql from its page of plain SQL

#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/parsed_data/create_macro_info.hpp"
#include "duckdb/parser/statement/create_statement.hpp"

namespace duckdb {

//! Creates each macro in the catalogue of DuckDB's own functions, where every name of the others resolves.
static void CreateMacros(ExtensionLoader &loader) {
	Connection connection(loader.GetDatabaseInstance());
	for (auto macro : NBSQL_MACROS) {
		auto statements = connection.ExtractStatements(macro);
		auto &info = statements[0]->Cast<CreateStatement>().info->Cast<CreateMacroInfo>();
		info.SetSchema(DEFAULT_SCHEMA);
		info.internal = true;
		loader.RegisterFunction(info);
	}
}

void NbsqlExtension::Load(ExtensionLoader &loader) {
	CreateMacros(loader);
}

std::string NbsqlExtension::Name() {
	return "nbsql";
}

std::string NbsqlExtension::Version() const {
	return NBSQL_VERSION;
}

} // namespace duckdb

extern "C" {

DUCKDB_CPP_EXTENSION_ENTRY(nbsql, loader) {
	duckdb::CreateMacros(loader);
}
}
