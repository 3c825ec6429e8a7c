// The server's description of itself at /openapi.json: endpoints, fields with their ranges, statuses (OpenAPI 3.1). It is
// resources/server/openapi.json, within the program, with the version in place of "@".
//
// Kept true by hand: tests hold its endpoints against those that are answered, tests/clients/fuzz_api.py its fields and statuses.
#pragma once

#include <string>

namespace winnow::app {

// Any thread.
std::string apiDescription(const std::string& version);

}  // namespace winnow::app
