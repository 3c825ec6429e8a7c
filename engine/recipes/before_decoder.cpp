#include "engine/recipes/before_decoder.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/recipes/budget.h"

namespace winnow {

std::string text_of(const BeforeDecoder& before) {
  std::string text = "none";
  for (const BeforeMethodWord& each : kBeforeWords) {
    if (each.value == before.method) text = each.word;
  }
  if (before.method == BeforeMethod::kNone) return text;
  char amount[32];
  const auto end = std::to_chars(amount, amount + sizeof amount, before.amount).ptr;
  return text + ":" + std::string(amount, end);
}

std::optional<BeforeDecoder> before_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto* const word =
      std::ranges::find(kBeforeWords, text.substr(0, colon), [](const BeforeMethodWord& each) { return std::string_view(each.word); });
  if (word == std::end(kBeforeWords)) return std::nullopt;
  BeforeDecoder before{word->value};
  if (colon == std::string_view::npos) {
    if (before.by_pixels()) before.amount = 0.0;
    return before.by_pixels() || before.method == BeforeMethod::kNone ? std::optional(before) : std::nullopt;
  }
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + colon + 1, end, before.amount);
  const bool in_range = before.amount <= 1.0 && (before.by_pixels() ? before.amount >= 0.0 : before.amount > 0.0);  // false for NaN
  if (before.method == BeforeMethod::kNone || problem != std::errc() || rest != end || !in_range) return std::nullopt;
  return before;
}

FewerPatches patches_that_stay(const BeforeDecoder& before, const PatchCount& count) {
  const std::int64_t each = count.frames > 0 ? count.patches / count.frames : 0;
  const auto all = static_cast<double>(count.patches);
  switch (before.method) {
    case BeforeMethod::kEvs: return {std::max({each, static_cast<std::int64_t>(std::floor(all * before.amount)), count.pinned})};
    case BeforeMethod::kDivPruned:
    case BeforeMethod::kRandom:
      return {std::max({std::min<std::int64_t>(1, count.patches), round_half_up(all * before.amount), count.pinned})};
    case BeforeMethod::kVidCom2: {
      const std::int64_t unpinned = count.patches - count.pinned;
      const auto of_frame = std::max<std::int64_t>(1, std::llround(std::nearbyint(static_cast<double>(each) * before.amount)));
      return {count.pinned + (each > 0 ? unpinned / each * of_frame : 0), count.frames <= 1};
    }
    case BeforeMethod::kPixelPrune: return {count.patches, false};
    case BeforeMethod::kNone: break;
  }
  return {count.patches};
}

}  // namespace winnow
