#include "app/remote/server_key.h"

#include <algorithm>
#include <cstdlib>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostKeyBytes = 4096;

[[noreturn]] void missing(const KeySource& source, const std::string& why) {
  throw Exception(ErrorCode::kServerKeyMissing, source.name, why);
}

std::string fromEnvironment(const KeySource& source) {
  const char* value = std::getenv(source.name.c_str());
  if (value == nullptr) missing(source, "there is no such environment variable");
  return value;
}

std::string fromFile(const KeySource& source) {
  try {
    return read_file_bytes(source.name, kMostKeyBytes);
  } catch (const Exception& problem) {
    missing(source, problem.error().reason);
  }
}

}  // namespace

std::string keyFrom(const KeySource& source) {
  if (source.kind == KeySource::Kind::kNone) return {};
  std::string key = source.kind == KeySource::Kind::kFile ? fromFile(source) : fromEnvironment(source);
  key.erase(std::min(key.find_first_of("\r\n"), key.size()));  // an editor ends a line
  const bool plain = std::ranges::all_of(key, [](unsigned char each) { return each > 0x20 && each < 0x7f; });
  if (key.empty() || !plain) missing(source, "its first line must be the key, without spaces");
  return key;
}

}  // namespace winnow::app
