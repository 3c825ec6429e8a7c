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

std::size_t end_of_words(std::string_view text) { return text.find_last_not_of(kSpace) + 1; }

// The start of the end of an answer, if nothing else follows: white space, its mark or the beginning of it, white space.
std::size_t begin_of_end(std::string_view text, std::string_view mark) {
  const std::string_view body = text.substr(0, end_of_words(text));
  const std::size_t end = body.ends_with(mark) ? body.size() - mark.size() : text.size() - begun_at_end(text, mark);
  return end_of_words(text.substr(0, end));
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
      const std::size_t told_bytes = end_of_words(before);  // 0: white space alone
      told.thought += before.substr(0, told_bytes);
      said_ = said_ || told_bytes > 0;
      held_.erase(0, ended ? end + tags_->end.size() : told_bytes);
      if (ended) state_ = State::kAfterThought;
      return ended;
    }
    case State::kAfterThought: {
      held_.erase(0, first_word(held_));
      const std::string_view mark = tags_->answer_begin;
      if (held_.empty() || (held_.size() < mark.size() && mark.starts_with(held_))) return false;
      const bool marked = !mark.empty() && held_.starts_with(mark);
      if (marked) held_.erase(0, mark.size());
      state_ = marked ? State::kMarkedAnswer : State::kAnswer;
      said_ = false;
      return true;
    }
    case State::kAnswer: told.answer += std::exchange(held_, {}); return false;
    case State::kMarkedAnswer: tell_marked_answer(told); return false;
  }
  return false;
}

void ThoughtSplitter::tell_marked_answer(SplitText& told) {
  if (!said_) held_.erase(0, first_word(held_));
  const std::size_t told_bytes = begin_of_end(held_, tags_->answer_end);
  told.answer += held_.substr(0, told_bytes);
  said_ = said_ || told_bytes > 0;
  held_.erase(0, told_bytes);
}

SplitText ThoughtSplitter::flush() {
  const std::string rest = std::exchange(held_, {});
  const std::string_view words = std::string_view(rest).substr(0, end_of_words(rest));
  if (state_ == State::kThought) return {std::string(words), {}};
  const bool ended = state_ == State::kMarkedAnswer && words.ends_with(tags_->answer_end);
  return {{}, ended ? std::string() : rest};
}

bool ThoughtSplitter::expects(std::string_view piece) const {
  const auto within = [&](std::string_view mark) { return mark.find(piece) != std::string_view::npos; };
  if (state_ == State::kAnswer) return false;
  if (state_ == State::kMarkedAnswer) return within(tags_->answer_end);
  return within(tags_->begin) || within(tags_->end) || within(tags_->answer_begin);
}

bool ends_in_thought(std::string_view text, const ThoughtTags& tags) {
  const std::size_t last = text.find_last_not_of(kSpace);
  return last != std::string_view::npos && text.substr(0, last + 1).ends_with(tags.begin);
}

}  // namespace winnow
