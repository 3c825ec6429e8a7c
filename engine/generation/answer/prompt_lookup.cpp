#include "engine/generation/answer/prompt_lookup.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr std::size_t kLeastMatch = 3;  // tokens; shorter ones are common by chance
constexpr std::size_t kLongestMatch = 16;

}  // namespace

std::vector<std::int64_t> PromptLookup::draft(std::span<const std::int64_t> text, std::int64_t next, std::size_t most) {
  if (most == 0 || !gains_.worth_a_try()) return {};
  std::size_t longest = 0;
  std::size_t from = 0;
  for (std::size_t behind = text.size(); behind-- > 1 && longest < kLongestMatch;) {
    if (text[behind] != next) continue;
    std::size_t match = 1;
    while (match < kLongestMatch && match <= behind && text[behind - match] == text[text.size() - match]) ++match;
    if (match <= longest) continue;
    longest = match;
    from = behind + 1;
  }
  if (longest < kLeastMatch) return {};
  std::vector<std::int64_t> drafted;
  while (drafted.size() < std::min(longest, most)) {
    const std::size_t at = from + drafted.size();  // what repeats itself goes on behind `next` with the draft's own beginning
    drafted.push_back(at < text.size() ? text[at] : at == text.size() ? next : drafted[at - text.size() - 1]);
  }
  return drafted;
}

}  // namespace winnow
