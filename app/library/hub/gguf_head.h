// Reads the architecture from the beginning of a GGUF file that is still coming.
//
// Used by hub_fetch.h, before gigabytes are fetched. Reads the metadata in their order up to general.architecture, which writers put first.
// No errors: what is no such beginning, or too short a one, says nothing. Pure; threads: any.
#pragma once

#include <QByteArray>
#include <optional>
#include <string>

namespace winnow::app {

std::optional<std::string> architectureIn(const QByteArray& beginning);

}  // namespace winnow::app
