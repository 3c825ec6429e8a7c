#include "app/engine/remote/server_key.h"

#include <algorithm>
#include <cstdlib>

#include "app/engine/remote/key_ring.h"
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

std::string fromDesktop(const ServerAddress& address, KeyRing* typed, const InterruptToken& interrupt) {
  if (typed == nullptr) throw Exception(ErrorCode::kServerKeyMissing, address.origin(), "keys of the desktop are not read here");
  return typed->find(address, interrupt);
}

}  // namespace

bool isServerKey(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](unsigned char each) { return each > 0x20 && each < 0x7f; });
  return plain && !text.empty() && text.size() <= kMostKeyBytes;
}

std::string keyFrom(const ServerAddress& address, KeyRing* typed, const InterruptToken& interrupt) {
  const KeySource& source = address.key;
  if (source.kind == KeySource::Kind::kNone) return {};
  if (source.kind == KeySource::Kind::kDesktop) return fromDesktop(address, typed, interrupt);
  std::string key = source.kind == KeySource::Kind::kFile ? fromFile(source) : fromEnvironment(source);
  key.erase(std::min(key.find_first_of("\r\n"), key.size()));  // an editor ends a line
  if (!isServerKey(key)) missing(source, "its first line must be the key, without spaces");
  return key;
}

}  // namespace winnow::app
