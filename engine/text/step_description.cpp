#include "engine/text/step_description.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxReplacementBytes = 64;
constexpr std::size_t kMaxResultBytes = std::size_t{64} << 20;

}  // namespace

LiteralReplacement LiteralReplacement::read(const JsonObject& step) {
  const JsonObject pattern = step.object("pattern");
  if (!pattern.has("String"))
    throw Exception(ErrorCode::kUnsupportedModel, step.file(), "replacing by a regular expression is not supported");
  LiteralReplacement out{pattern.string("String", kMaxReplacementBytes), step.string("content", kMaxReplacementBytes)};
  if (out.from.empty()) throw Exception(ErrorCode::kDamagedFile, step.file(), "replaces an empty text");
  return out;
}

std::string LiteralReplacement::apply(std::string_view text) const {
  std::size_t found = 0;
  for (std::size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, at + from.size())) ++found;
  const std::size_t bytes = text.size() - found * from.size() + found * to.size();
  if (bytes > kMaxResultBytes) throw Exception(ErrorCode::kLimitExceeded, "", "the text becomes longer than 64 MiB before it is split");
  std::string out;
  out.reserve(bytes);
  std::size_t done = 0;
  for (std::size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, done)) {
    out.append(text.substr(done, at - done)).append(to);
    done = at + from.size();
  }
  return out.append(text.substr(done));
}

}  // namespace winnow
