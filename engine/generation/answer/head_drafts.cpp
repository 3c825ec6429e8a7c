#include "engine/generation/answer/head_drafts.h"

#include <algorithm>
#include <utility>

#include "engine/layers/row_elements.h"

namespace winnow {
namespace {

constexpr std::size_t kLongestDraft = 3;  // tokens; each is another product with the output matrix

}  // namespace

HeadDrafts::HeadDrafts(const TextDecoder& text) : text_(text) {
  if (const std::optional<KvShape> shape = text.draft_shape()) cache_.emplace(*shape);
}

void HeadDrafts::follow(DraftRow row) {
  if (!cache_) return;
  if (std::ssize(unread_) == kFewRows) unread_.erase(unread_.begin());
  unread_.push_back(std::move(row));
}

std::vector<std::int64_t> HeadDrafts::draft(std::size_t most) {
  if (unread_.empty() || most == 0 || !gains_.worth_a_try()) return {};
  HeadGuess guess = text_.guess(unread_, *cache_);
  std::int64_t position = unread_.back().position;
  unread_.clear();
  KvCache ahead = cache_->fork();
  std::vector<std::int64_t> drafted = {guess.logits.argmax().item<std::int64_t>()};
  while (drafted.size() < std::min(most, length_)) {
    const DraftRow row{guess.hidden, ++position, drafted.back()};
    guess = text_.guess({&row, 1}, ahead);
    drafted.push_back(guess.logits.argmax().item<std::int64_t>());
  }
  return drafted;
}

void HeadDrafts::note_step(std::size_t rows, std::size_t kept, double elapsed_ms) {
  gains_.note_step(rows, kept, elapsed_ms);
  if (rows > 1) length_ = kept == rows ? std::min(rows, kLongestDraft) : std::max<std::size_t>(1, kept - 1);
}

}  // namespace winnow
