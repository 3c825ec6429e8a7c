// The fields of a request's body, by the names that its sender gave them: read with their ranges, refused by their path.
//
// Errors: ApiRefusal (400), whose param is the path, "messages[0].content". Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/json_document.h"

namespace winnow::app {

inline constexpr std::size_t kMostFieldName = 256;  // of a field that is not known, as it is told

inline constexpr std::size_t kMostElements = 200'000;
Json requestDocument(std::string_view body, std::size_t mostElements = kMostElements);

// An object of the request. Borrows it.
class RequestFields {
 public:
  RequestFields(const Json& value, std::string path);

  std::string path(const std::string& name) const { return m_path.empty() ? name : m_path + "." + name; }
  // Null where it is left out; null itself says nothing.
  const Json* find(const char* name) const;
  bool boolean(const char* name, bool otherwise) const;
  std::optional<double> real(const char* name, double least, double most) const;
  std::optional<std::int64_t> whole(const char* name, std::int64_t least, std::int64_t most) const;
  std::optional<std::string> text(const char* name) const;
  std::string neededText(const char* name) const;
  std::optional<RequestFields> object(const char* name) const;
  const Json* list(const char* name, std::size_t most) const;
  const Json& value() const { return m_value; }

 private:
  const Json& m_value;
  std::string m_path;
};

bool isAmong(std::span<const std::string_view> list, std::string_view name);
[[noreturn]] void refuseUnsupported(const std::string& param, const std::string& what);
// A value that asks for what is done anyway: false, 0, nothing.
bool asksNothing(const Json& value);

}  // namespace winnow::app
