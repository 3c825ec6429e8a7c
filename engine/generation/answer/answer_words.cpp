#include "engine/generation/answer/answer_words.h"

#include <algorithm>

#include "engine/text/utf8.h"

namespace winnow {
namespace {

std::size_t run_length(std::string_view text, std::size_t at, bool spaces) {
  std::size_t end = at;
  while (end < text.size()) {
    const utf8::Decoded next = utf8::decode(text, end);
    if (utf8::is_space(next.code_point) != spaces) break;
    end += next.bytes;
  }
  return end - at;
}

}  // namespace

std::size_t space_length(std::string_view text, std::size_t at) { return run_length(text, at, true); }
std::size_t word_length(std::string_view text, std::size_t at) { return run_length(text, at, false); }

AnswerWords::AnswerWords(const LoadedModel& model, ThoughtStart start, std::span<const std::int64_t> tokens, std::string answer)
    : answer_(std::move(answer)) {
  for (std::size_t at = space_length(answer_, 0); at < answer_.size(); at += space_length(answer_, at)) {
    const std::size_t length = word_length(answer_, at);
    words_.emplace_back(at, at + length);
    at += length;
  }
  AnswerText text(model, start);
  std::size_t begin = 0;
  for (const std::int64_t token : tokens) {
    begins_.push_back(std::min(begin, answer_.size()));
    const auto word = std::find_if(words_.begin(), words_.end(), [&](const auto& each) { return each.second > begin; });
    word_of_.push_back(word - words_.begin());
    begin += text.push(token).answer.size();
  }
  thought_tokens_ = static_cast<std::size_t>(text.thought_tokens());
}

std::string AnswerWords::text(std::int64_t word) const {
  if (word >= size()) return {};
  const auto& [begin, end] = words_[static_cast<std::size_t>(word)];
  return answer_.substr(begin, end - begin);
}

std::string AnswerWords::text_before(std::size_t token) const {
  const std::int64_t word = word_of_[token];
  if (word >= size()) return {};
  const std::size_t begin = words_[static_cast<std::size_t>(word)].first;
  return begins_[token] > begin ? answer_.substr(begin, begins_[token] - begin) : std::string();
}

}  // namespace winnow
