#include "engine/generation/answer/answer_loop.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/conversation/cache_figures.h"
#include "engine/layers/row_elements.h"
#include "engine/sampling/log_probabilities.h"

namespace winnow {
namespace {

constexpr double kSampleEveryMs = 100.0;  // live figures: at most ten a second

// A draft's most tokens where layers keep states, which are copied before each.
constexpr std::int64_t kMostWithStates = 3;

// Tokens per second of the median step; with drafts, where several tokens share the time of a step, of all steps.
double typical_speed(std::vector<double> step_ms, bool drafted) {
  if (step_ms.empty()) return 0.0;
  if (drafted) {
    const double total_ms = std::accumulate(step_ms.begin(), step_ms.end(), 0.0);
    return total_ms > 0.0 ? 1000.0 * static_cast<double>(step_ms.size()) / total_ms : 0.0;
  }
  const auto middle = step_ms.begin() + static_cast<std::ptrdiff_t>(step_ms.size() / 2);
  std::nth_element(step_ms.begin(), middle, step_ms.end());
  return *middle > 0.0 ? 1000.0 / *middle : 0.0;
}

// The position where the answer begins, or goes on.
std::int64_t first_position(const AnswerStart& start) {
  const std::int64_t unread = std::ssize(start.begun.ids) - static_cast<std::int64_t>(start.begun.read);
  return start.state.next_position - (start.first_step ? 1 : 0) + unread;
}

}  // namespace

int longest_answer(const RequestContext& context, const Sampling& sampling, std::int64_t position) {
  if (sampling.limit_chosen()) return sampling.max_new_tokens;
  const std::int64_t left = context.network().info().context_tokens - position;
  return static_cast<int>(std::clamp<std::int64_t>(left, 1, sampling.max_new_tokens));
}

int longest_thought(const Sampling& sampling, int longest) {
  if (sampling.limit_chosen()) return sampling.thought_tokens;
  const int most = longest - longest / 4;
  return sampling.thought_tokens < 0 ? most : std::min(sampling.thought_tokens, most);
}

AnswerLoop::AnswerLoop(const RequestContext& context, const Sampling& sampling, AnswerStart start, std::function<void()> on_first_token)
    : context_(context),
      sampling_(sampling),
      start_(std::move(start)),
      on_first_token_(std::move(on_first_token)),
      longest_(longest_answer(context, sampling, first_position(start_))),
      choice_(sampling, start_.begun.ids.size()),
      text_(start_.state.settings.form == PromptForm::kChatTemplate
                ? AnswerText(context.model, thought_start(context.model, start_.prompt_tokens()))
                : AnswerText::of_plain_text(context.model)),
      thought_limit_(context.model, longest_thought(sampling, longest_)),
      stops_(sampling.stop_strings),
      first_generated_(static_cast<std::int32_t>(start_.prompt_tokens().size())),
      head_(context.network().text()) {
  if (!start_.begun.ids.empty() && start_.first_step) {
    require(start_.first_step->token == start_.begun.ids.front(), "AnswerLoop: another first token than the answer begins with");
    start_.begun.read = 1;
    start_.logits = start_.first_step->logits;
    start_.first_step.reset();
  }
  // Said already; what may be left is the beginning of a character.
  for (const std::int64_t id : start_.begun.ids) follow(id);
  answer_.layers = slot_counts(start_.state, first_generated_);
}

void AnswerLoop::deliver(const std::string& text, TextKind kind) {
  if (text.empty()) return;
  (kind == TextKind::kThought ? answer_.thought : answer_.text) += text;
  context_.emit(TextDelta{text, kind});
}

// The probability of a token whose text has not been sent yet.
std::optional<TokenSampled> AnswerLoop::probability_of(std::int64_t token) const {
  if (sampling_.told_probabilities < 0 || context_.model.tokenizer->is_special(token)) return std::nullopt;
  const at::Tensor logits = start_.logits.cpu().contiguous();
  const LogProbabilities of({logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel())});
  const auto told = [&](std::int64_t id) { return TokenProbability{id, text_.bytes_of(id), of[id]}; };
  TokenSampled event{told(token), {}, TextKind::kAnswer};
  for (const std::int64_t id : of.likeliest(static_cast<std::size_t>(sampling_.told_probabilities))) event.likeliest.push_back(told(id));
  return event;
}

std::string AnswerLoop::tell(const SplitText& told) {
  deliver(told.thought, TextKind::kThought);
  const std::string said = stops_.push(told.answer);
  deliver(said, TextKind::kAnswer);
  return said;
}

// The text that the token completes. A thought that is as long as it may be has its end before it.
SplitText AnswerLoop::follow(std::int64_t token) {
  SplitText told = text_.push(token);
  thought_limit_.follow(text_, token);
  return told;
}

void AnswerLoop::sample_event() {
  DecodeSample sample;
  sample.generated_tokens = static_cast<std::int64_t>(answer_.token_ids.size());
  sample.tokens_per_s = typical_speed(step_ms_, answer_.drafted_tokens > 0);
  sample.kv_bytes_now = conversation().cache.bytes_in_use();
  answer_.kv_bytes_full = conversation().cache.shape().full_bytes(conversation().full_tokens());
  sample.kv_bytes_full_now = answer_.kv_bytes_full;
  if (conversation().decode_policy || !conversation().cache.shape().windows.empty()) {
    answer_.layers = slot_counts(conversation(), first_generated_);
  } else {
    add_growth(conversation().cache, answer_.layers);
  }
  sample.layers = answer_.layers;
  context_.emit(std::move(sample));
  since_sample_.restart_ms();
}

bool AnswerLoop::end(StopReason reason) {
  drop_draft();
  answer_.reason = reason;
  over_ = true;
  return false;
}

void AnswerLoop::read_begun() {
  BegunAnswer& begun = start_.begun;
  while (begun.read < begun.ids.size()) {
    context_.interrupt.throw_if_requested();
    start_.logits = decode_step(context_.network(), conversation(), begun.ids[begun.read]);
    ++begun.read;
    context_.emit(Progress{Phase::kPrefill, begun.read, begun.ids.size()});
  }
}

std::int64_t AnswerLoop::choose() {
  const Stopwatch watch;
  const std::span<const std::int64_t> ids = conversation().token_ids;
  const std::int64_t token = choice_.choose(start_.logits, ids.first(ids.size() - (next_was_read() ? 1 : ahead_.size())));
  // A device is only now done with the step before.
  if (!start_.logits.is_cpu() && steps_ > 0) {
    const double waited = watch.elapsed_ms();
    answer_.decode_total_ms += waited;
    if (!step_ms_.empty()) step_ms_.back() += waited;
  }
  return token;
}

// The model's choice, or the token that ends its thought. It draws in any case, so that an answer in pieces draws as one does.
std::int64_t AnswerLoop::next_token() {
  const std::int64_t chosen = choose();
  return thought_limit_.forced().value_or(chosen);
}

// Notes a token that is chosen and not read yet.
void AnswerLoop::note_held(const std::string& said) {
  if (sampling_.stop_strings.empty()) return;
  if (!stops_.holds() && !text_.holds()) {
    before_held_.reset();
    said_since_.clear();
    return;
  }
  if (!before_held_) before_held_ = conversation().fork();
  said_since_ += said;
  if (next_was_read()) said_since_.clear();  // with the event: it stays
}

// said: by the last token, which nobody has read.
void AnswerLoop::read_up_to_stop(const std::string& said) {
  if (before_held_) start_.state = *std::exchange(before_held_, std::nullopt);
  const std::string unread = next_was_read() ? std::string() : said_since_ + said;
  const bool begins = unread.size() == answer_.text.size() && start_.begun.ids.empty() && answer_.thought.empty();
  const TextStart start = begins ? TextStart::kNew : TextStart::kContinued;
  for (const std::int64_t id : context_.model.tokenizer->encode(unread, SpecialText::kAsText, start))
    decode_step(context_.network(), conversation(), id);
}

bool AnswerLoop::step() {
  if (!begin_step()) return false;
  std::optional<TokenToRead> read = unread();
  if (!read) return true;
  const Stopwatch watch;
  read->logits = decode_step(context_.network(), conversation(), read->token).unsqueeze(0);
  end_step(*read, watch.elapsed_ms());
  return true;
}

bool AnswerLoop::begin_step() {
  if (over_ || steps_ >= longest_) return false;
  read_begun();
  const Interrupt state = context_.interrupt.state();
  if (state == Interrupt::kCancel) throw Interrupted(state);
  const bool stopping = state == Interrupt::kStop;
  if (stopping && answer_.token_ids.empty() && start_.begun.ids.empty()) return end(StopReason::kInterrupted);
  context_.model.require_unchanged();
  const std::int64_t token = next_token();
  if (answer_.token_ids.empty()) {
    since_first_.restart_ms();
    on_first_token_();
  }
  answer_.token_ids.push_back(token);
  if (context_.model.stop_token_ids.contains(token)) return end(StopReason::kStopToken);
  const bool was_thinking = text_.thinking();
  std::optional<TokenSampled> probability = probability_of(token);
  const SplitText told = follow(token);
  if (probability) {
    if (was_thinking || text_.thinking()) probability->kind = TextKind::kThought;
    context_.emit(*std::move(probability));
  }
  const std::string said = tell(told);
  if (was_thinking || text_.thinking()) answer_.thought_ms = since_first_.elapsed_ms();
  if (stops_.matched()) {
    read_up_to_stop(said);
    return end(StopReason::kStopString);
  }
  answer_.open = stopping || steps_ + 1 == longest_;
  if (answer_.open) return end(stopping ? StopReason::kInterrupted : StopReason::kLength);
  note_held(said);
  if (hidden_.defined()) head_.follow({hidden_.narrow(0, 0, 1), conversation().next_position - 1 - std::ssize(ahead_), token});
  if (!ahead_.empty() && ahead_.front() == token) {
    reach_drafted();
    return true;
  }
  drop_draft();
  unread_ = token;
  if (next_was_read()) {
    require(token == start_.first_step->token, "AnswerLoop: another first token than the one that was read");
    end_step({&conversation(), token, {}, start_.first_step->logits.unsqueeze(0)}, start_.first_step->elapsed_ms);
  }
  return true;
}

std::optional<TokenToRead> AnswerLoop::unread() { return unread_ ? std::optional(TokenToRead{&conversation(), *unread_}) : std::nullopt; }

std::optional<TokenToRead> AnswerLoop::unread_with_draft() {
  std::optional<TokenToRead> read = unread();
  // A state from before a stop string is kept without drafts.
  if (!read || !sampling_.stop_strings.empty() || !can_take_back(conversation())) return read;
  const std::int64_t room =
      std::min<std::int64_t>(tokens_left(), context_.network().info().context_tokens - conversation().next_position) - 1;
  const std::int64_t most = std::min(conversation().cache.shape().states_with.empty() ? kFewRows - 1 : kMostWithStates,
                                     draft_before_rounding(conversation().cache));
  const auto longest = static_cast<std::size_t>(std::clamp<std::int64_t>(room, 0, most));
  const Stopwatch watch;
  read->draft = lookup_.draft(conversation().token_ids, read->token, longest);
  drafted_by_head_ = read->draft.empty();
  if (drafted_by_head_) read->draft = head_.draft(longest);
  read->drafting_ms = watch.elapsed_ms();
  return read;
}

void AnswerLoop::end_step(const TokenToRead& read, double elapsed_ms) {
  unread_.reset();
  start_.logits = read.logits.select(0, 0);
  ahead_ = read.draft;
  ahead_logits_ = read.logits.narrow(0, 1, std::ssize(ahead_));
  ahead_states_ = read.states_before;
  hidden_ = read.hidden;
  const double whole_ms = read.drafting_ms + elapsed_ms;
  answer_.decode_total_ms += whole_ms;
  last_step_ = {1 + ahead_.size(), 1, whole_ms};
  went_on();
}

void AnswerLoop::reach_drafted() {
  start_.logits = ahead_logits_.select(0, 0);
  ahead_.erase(ahead_.begin());
  ahead_logits_ = ahead_logits_.narrow(0, 1, std::ssize(ahead_));
  ahead_states_.erase(ahead_states_.begin());
  if (hidden_.defined()) hidden_ = hidden_.narrow(0, 1, 1 + std::ssize(ahead_));
  ++last_step_.kept;
  ++answer_.drafted_tokens;
  went_on();
}

void AnswerLoop::drop_draft() {
  if (ahead_.empty()) return;
  take_back(conversation(), std::ssize(ahead_), ahead_states_.front());
  ahead_.clear();
  ahead_states_.clear();
  note_steps();
}

void AnswerLoop::went_on() {
  if (ahead_.empty()) note_steps();
  ++steps_;
  // A draft that is not reached yet would be counted.
  if (ahead_.empty() && since_sample_.elapsed_ms() >= kSampleEveryMs) sample_event();
}

// The tokens that a step brought share its time.
void AnswerLoop::note_steps() {
  const auto& [rows, kept, elapsed_ms] = last_step_;
  if (steps_ == 0) return;
  if (rows == 1 || !drafted_by_head_) lookup_.note_step(rows, kept, elapsed_ms);
  if (rows == 1 || drafted_by_head_) head_.note_step(rows, kept, elapsed_ms);
  step_ms_.insert(step_ms_.end(), kept, elapsed_ms / static_cast<double>(kept));
}

Answer AnswerLoop::finish() {
  // An answer that is cut within a character or a mark has it when it goes on.
  const SplitText rest = answer_.open ? SplitText() : text_.flush();
  if (!stops_.matched()) {
    tell(rest);
    deliver(stops_.flush(), TextKind::kAnswer);
  }
  answer_.thought_tokens = text_.thought_tokens();
  answer_.tokens_per_s = typical_speed(step_ms_, answer_.drafted_tokens > 0);
  sample_event();
  return std::move(answer_);
}

}  // namespace winnow
