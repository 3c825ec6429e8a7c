#include "engine/sampling/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace winnow {

StopMatcher::StopMatcher(std::vector<std::string> stop_strings) {
  for (std::string& text : stop_strings) {
    if (text.empty()) continue;
    Pattern pattern;
    pattern.fallback.assign(text.size(), 0);
    for (std::size_t i = 1, k = 0; i < text.size(); ++i) {
      while (k > 0 && text[i] != text[k]) k = pattern.fallback[k - 1];
      if (text[i] == text[k]) ++k;
      pattern.fallback[i] = k;
    }
    pattern.text = std::move(text);
    patterns_.push_back(std::move(pattern));
  }
}

std::string StopMatcher::push(std::string_view text) {
  if (matched_) return {};
  for (const char byte : text) {
    held_.push_back(byte);
    const Pattern* found = nullptr;
    for (Pattern& p : patterns_) {
      while (p.progress > 0 && p.text[p.progress] != byte) p.progress = p.fallback[p.progress - 1];
      if (p.text[p.progress] == byte) ++p.progress;
      if (p.progress == p.text.size() && (found == nullptr || p.text.size() > found->text.size())) found = &p;
    }
    if (found != nullptr) {
      matched_ = true;
      held_.resize(held_.size() - found->text.size());
      return std::move(held_);
    }
  }
  std::size_t longest = 0;
  for (const Pattern& p : patterns_) longest = std::max(longest, p.progress);
  std::string shown = held_.substr(0, held_.size() - longest);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopMatcher::flush() {
  if (matched_) return {};
  for (Pattern& p : patterns_) p.progress = 0;
  return std::exchange(held_, {});
}

}  // namespace winnow
