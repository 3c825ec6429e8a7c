#include "engine/text/thought_splitter.h"

#include <algorithm>
#include <utility>

namespace winnow {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::size_t first_word(std::string_view text) { return std::min(text.find_first_not_of(kSpace), text.size()); }

// The length of the longest beginning of `mark` that `text` ends with.
std::size_t begun_at_end(std::string_view text, std::string_view mark) {
  for (std::size_t length = std::min(text.size(), mark.size() - 1); length > 0; --length) {
    if (text.ends_with(mark.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

ThoughtSplitter::ThoughtSplitter(std::optional<ThoughtTags> tags, ThoughtStart start) : tags_(tags) {
  state_ = !tags_ ? State::kAnswer : start == ThoughtStart::kOpened ? State::kThought : State::kBeginning;
}

SplitText ThoughtSplitter::push(std::string_view text) {
  held_ += text;
  SplitText told;
  while (advance(told)) {
  }
  return told;
}

// True: the state has changed, and what is held is to be looked at again.
bool ThoughtSplitter::advance(SplitText& told) {
  switch (state_) {
    case State::kBeginning: {
      const std::string_view said = std::string_view(held_).substr(first_word(held_));
      if (said.size() < tags_->begin.size() && tags_->begin.starts_with(said)) return false;
      if (said.starts_with(tags_->begin)) {
        held_ = std::string(said.substr(tags_->begin.size()));
        state_ = State::kThought;
      } else {
        state_ = State::kAnswer;
      }
      return true;
    }
    case State::kThought: {
      if (!said_) held_.erase(0, first_word(held_));
      const std::size_t end = held_.find(tags_->end);
      const bool ended = end != std::string::npos;
      const std::string_view before = std::string_view(held_).substr(0, ended ? end : held_.size() - begun_at_end(held_, tags_->end));
      const std::size_t told_bytes = before.find_last_not_of(kSpace) + 1;  // 0: white space alone
      told.thought += before.substr(0, told_bytes);
      said_ = said_ || told_bytes > 0;
      held_.erase(0, ended ? end + tags_->end.size() : told_bytes);
      if (ended) state_ = State::kAfterThought;
      return ended;
    }
    case State::kAfterThought:
      held_.erase(0, first_word(held_));
      if (held_.empty()) return false;
      state_ = State::kAnswer;
      return true;
    case State::kAnswer:
      told.answer += std::exchange(held_, {});
      return false;
  }
  return false;
}

SplitText ThoughtSplitter::flush() {
  const std::string rest = std::exchange(held_, {});
  if (state_ == State::kThought) return {rest.substr(0, rest.find_last_not_of(kSpace) + 1), {}};
  return {{}, rest};
}

bool ends_in_thought(std::string_view text, const ThoughtTags& tags) {
  const std::size_t last = text.find_last_not_of(kSpace);
  return last != std::string_view::npos && text.substr(0, last + 1).ends_with(tags.begin);
}

}  // namespace winnow
