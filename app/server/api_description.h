// What the server publishes about itself at /openapi.json: endpoints, fields with their ranges, statuses (OpenAPI 3.1).
//
// Kept true by hand: tests hold its endpoints against those that are answered, tests/clients/fuzz_api.py its fields and statuses.
#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

std::string apiDescription(std::string_view version);

}  // namespace winnow::app
