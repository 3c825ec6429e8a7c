#include "app/programs/server/request_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "app/programs/server/api_refusal.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

std::string shortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

}  // namespace

Json requestDocument(std::string_view body, std::size_t mostElements) {
  try {
    return parse_json(body, "the body", {.max_bytes = body.size() + 1, .max_depth = 64, .max_elements = mostElements});
  } catch (const Exception& exception) {
    throw ApiRefusal(400, "the body is not usable JSON: " + exception.error().reason);
  }
}

RequestFields::RequestFields(const Json& value, std::string path) : m_value(value), m_path(std::move(path)) {
  if (!value.is_object()) throw ApiRefusal(400, "must be an object", m_path);
}

const Json* RequestFields::find(const char* name) const {
  const auto found = m_value.find(name);
  return found == m_value.end() || found->is_null() ? nullptr : &*found;
}

bool RequestFields::boolean(const char* name, bool otherwise) const {
  const Json* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) throw ApiRefusal(400, "must be true or false", path(name));
  return value->get<bool>();
}

std::optional<double> RequestFields::real(const char* name, double least, double most) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= least && number <= most))
    throw ApiRefusal(400, "must be a number from " + shortNumber(least) + " to " + shortNumber(most), path(name));
  return number;
}

std::optional<std::int64_t> RequestFields::whole(const char* name, std::int64_t least, std::int64_t most) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_integer() && !(value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) &&
                    value->get<std::int64_t>() >= least && value->get<std::int64_t>() <= most;
  if (!fits) throw ApiRefusal(400, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most), path(name));
  return value->get<std::int64_t>();
}

std::optional<std::string> RequestFields::text(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) throw ApiRefusal(400, "must be a text", path(name));
  return value->get<std::string>();
}

std::string RequestFields::neededText(const char* name) const {
  std::optional<std::string> value = text(name);
  if (!value) throw ApiRefusal(400, "is missing", path(name));
  return *std::move(value);
}

std::optional<RequestFields> RequestFields::object(const char* name) const {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return RequestFields(*value, path(name));
}

const Json* RequestFields::list(const char* name, std::size_t most) const {
  const Json* value = find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) throw ApiRefusal(400, "must be a list", path(name));
  if (value->size() > most) throw ApiRefusal(400, "has more than " + std::to_string(most) + " entries", path(name));
  return value;
}

bool isAmong(std::span<const std::string_view> list, std::string_view name) { return std::ranges::find(list, name) != list.end(); }

void refuseUnsupported(const std::string& param, const std::string& what) {
  throw ApiRefusal(400, what + " is not supported", param, "unsupported_parameter");
}

bool asksNothing(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0.0;
  return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
}

}  // namespace winnow::app
