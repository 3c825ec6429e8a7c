#include "app/media/files/typed_path.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace winnow::app {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kScheme = "file:";

std::string_view withoutBlanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool isThere(const std::string& path) {
  std::error_code unknown;
  return !path.empty() && path.find('\0') == std::string::npos && std::filesystem::exists(path, unknown);
}

// Reads one word as a shell does: quotes and back slashes go, what they protect stays.
std::string unquoted(std::string_view text) {
  std::string path;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size();
    if (escapes) {
      path += text[++i];
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote && quote != '\0') {
      quote = '\0';
    } else {
      path += c;
    }
  }
  return path;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// A per cent sign that begins no escape stays. No escape stands for a zero byte: no file has one in its name.
std::string percentDecoded(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? hexDigit(text[i + 2]) : -1;
    if (low < 0 || (high == 0 && low == 0)) {
      path += text[i];
    } else {
      path += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return path;
}

bool isFileAddress(std::string_view text) {
  return text.size() > kScheme.size() + 1 && text[kScheme.size()] == '/' &&
         std::equal(kScheme.begin(), kScheme.end(), text.begin(), [](char a, char b) { return a == b || a - 'a' + 'A' == b; });
}

// file:///a%20b, file://localhost/a, file:/a
std::string pathOfAddress(std::string_view address) {
  address.remove_prefix(kScheme.size());
  if (address.starts_with("//")) address.remove_prefix(std::min(address.find('/', 2), address.size()));
  if (std::string path = percentDecoded(address); isThere(path)) return path;  // with a # that nobody escaped
  return percentDecoded(address.substr(0, address.find_first_of("?#")));
}

std::string withHome(const std::string& path) {
  const char* const home = std::getenv("HOME");
  return home != nullptr && (path == "~" || path.starts_with("~/")) ? home + path.substr(1) : path;
}

}  // namespace

std::string typedPath(std::string_view text) {
  if (const std::string literal(text); isThere(literal)) return literal;
  const std::string plain(withoutBlanks(text));
  if (isThere(plain)) return plain;
  const std::string word = unquoted(plain);
  if (isFileAddress(word)) return pathOfAddress(word);
  for (const std::string& reading : {withHome(word), withHome(plain), percentDecoded(word)}) {
    if (isThere(reading)) return reading;
  }
  return withHome(word);
}

PathAndNumber typedPathAndNumber(std::string_view text, int most) {
  const std::string whole = typedPath(text);
  const std::string_view typed = withoutBlanks(text);
  const std::size_t space = typed.find_last_of(kBlanks);
  if (isThere(whole) || space == std::string_view::npos) return {whole, std::nullopt};
  int number = 0;
  const char* const end = typed.data() + typed.size();
  const auto [rest, problem] = std::from_chars(typed.data() + space + 1, end, number);
  if (problem != std::errc() || rest != end || number < 1 || number > most) return {whole, std::nullopt};
  return {typedPath(typed.substr(0, space)), number};
}

std::vector<std::string> fileAddresses(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = withoutBlanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    std::string path = isFileAddress(line) ? pathOfAddress(line) : std::string();
    if (!isThere(path)) return {};
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace winnow::app
