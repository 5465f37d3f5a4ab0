#pragma once

#include "duckdb.hpp"

namespace duckdb {

//! The classifier of nbsql as SQL macros.
class NbsqlExtension : public Extension {
public:
	void Load(ExtensionLoader &loader) override;
	std::string Name() override;
	std::string Version() const override;
};

} // namespace duckdb
