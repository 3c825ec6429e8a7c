#include "engine/text/pattern_replacement.h"

#include <chrono>

#include "engine/text/deadline.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxPatternContentBytes = 64;
constexpr std::size_t kMaxReplacedPatternBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxReplacedBytes = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kReplacementTime{1800};

}  // namespace

PatternReplacement PatternReplacement::read(const JsonObject& step) {
  return {SplitPattern(step.object("pattern").string("Regex", kMaxReplacedPatternBytes), step.file()),
          step.string("content", kMaxPatternContentBytes)};
}

PatternReplacement::Result PatternReplacement::apply(std::string_view text) const {
  Result result;
  Deadline deadline(kReplacementTime);
  std::size_t done = 0;
  const bool finished = pattern.for_each_match(text, [&](std::size_t begin, std::size_t end) {
    if (begin == 0) result.removed_from_start = utf8::count(text.substr(0, end));
    result.text.append(text.substr(done, begin - done)).append(to);
    done = end;
    return result.text.size() <= kMaxReplacedBytes && !deadline.passed();
  });
  if (!finished)
    throw Exception(ErrorCode::kLimitExceeded, "", "replacing parts of the text by a pattern takes too long or makes it too long");
  result.text.append(text.substr(done));
  return result;
}

}  // namespace winnow
