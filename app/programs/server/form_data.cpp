#include "app/programs/server/form_data.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "app/programs/server/api_refusal.h"

namespace winnow::app {
namespace {

constexpr std::string_view kFormType = "multipart/form-data";
constexpr std::string_view kDisposition = "content-disposition:";
constexpr std::string_view kBreak = "\r\n";
constexpr std::size_t kMostBoundary = 70;

ApiRefusal damaged() { return {400, "the form is damaged or cut off"}; }

bool beginsLike(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && std::ranges::equal(text.substr(0, lower.size()), lower, {}, [](char letter) {
           return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
         });
}

// The value of a parameter: `; name="a \"b\""` or `; name=a`. Nothing: there is none.
std::optional<std::string> parameterIn(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    std::string value;
    const std::size_t start = header.find(';');
    if (start == std::string_view::npos) return std::nullopt;
    header.remove_prefix(start + 1);
    header.remove_prefix(std::min(header.find_first_not_of(" \t"), header.size()));
    const std::size_t equals = std::min(header.find('='), header.size());
    const bool wanted = equals == name.size() && beginsLike(header, name);
    header.remove_prefix(std::min(equals + 1, header.size()));
    if (header.starts_with('"')) {
      std::size_t at = 1;
      for (; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size()) ++at;
        value += header[at];
      }
      header.remove_prefix(std::min(at + 1, header.size()));
    } else {
      value = header.substr(0, header.find_first_of("; \t"));
    }
    if (wanted) return value;
  }
  return std::nullopt;
}

// The lines of a field's head.
FormField fieldOf(std::string_view head) {
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find(kBreak));
    head.remove_prefix(std::min(line.size() + kBreak.size(), head.size()));
    if (!beginsLike(line, kDisposition)) continue;
    const auto name = parameterIn(line, "name");
    if (name) return {*name, parameterIn(line, "filename").has_value(), {}};
  }
  throw damaged();
}

}  // namespace

std::vector<FormField> formFields(std::string_view type, std::string_view body) {
  const auto boundary = beginsLike(type, kFormType) ? parameterIn(type, "boundary") : std::nullopt;
  if (!boundary) throw ApiRefusal(400, "this endpoint takes multipart/form-data");
  if (boundary->empty() || boundary->size() > kMostBoundary) throw damaged();
  const std::string delimiter = "\r\n--" + *boundary;
  if (!body.starts_with(std::string_view(delimiter).substr(kBreak.size()))) throw damaged();
  body.remove_prefix(delimiter.size() - kBreak.size());
  std::vector<FormField> fields;
  while (!body.starts_with("--")) {
    const std::size_t line = body.find(kBreak);
    const std::size_t head = line == std::string_view::npos ? line : body.find("\r\n\r\n", line);
    if (head == std::string_view::npos || head > kMostHeadBytes || fields.size() == kMostFields) throw damaged();
    FormField field = fieldOf(body.substr(line, head - line));
    body.remove_prefix(head + 2 * kBreak.size());
    const std::size_t end = body.find(delimiter);
    if (end == std::string_view::npos) throw damaged();
    field.value_view = body.substr(0, end);
    fields.push_back(std::move(field));
    body.remove_prefix(end + delimiter.size());
  }
  return fields;
}

}  // namespace winnow::app
