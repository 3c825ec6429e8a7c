#include "engine/generation/answer/answer_score.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/answer/answer_loop.h"
#include "engine/generation/answer/answer_words.h"
#include "engine/generation/answer/selection_judge.h"
#include "engine/generation/conversation/answer_text.h"
#include "engine/generation/conversation/decode_step.h"
#include "engine/sampling/sampler.h"
#include "engine/text/detokenizer.h"

namespace winnow {
namespace {

constexpr int kLongestWord = 24;  // tokens of the full cache's own word

// A next-token distribution on the host.
class Distribution {
 public:
  explicit Distribution(const at::Tensor& logits)
      : host_(logits.to(at::kCPU).contiguous()),
        values_(host_.const_data_ptr<float>(), static_cast<std::size_t>(host_.numel())),
        top_(std::max_element(values_.begin(), values_.end()) - values_.begin()) {
    const double highest = values_[static_cast<std::size_t>(top_)];
    double sum = 0.0;
    for (const float value : values_) sum += std::exp(static_cast<double>(value) - highest);
    log_sum_ = highest + std::log(sum);
    if (!std::isfinite(log_sum_)) throw Exception(ErrorCode::kNumericFailure, "", "the model's scores are not finite");
  }

  std::span<const float> values() const { return values_; }
  std::int64_t top() const { return top_; }  // the smaller id of equals, as the sampler
  double probability(std::int64_t token) const { return std::exp(log_probability(token)); }
  double log_probability(std::int64_t token) const { return log_probability_at(static_cast<std::size_t>(token)); }

  // KL(this || other)
  double divergence_to(const Distribution& other) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double log_p = log_probability_at(i);
      const double p = std::exp(log_p);
      if (p > 0.0) sum += p * (log_p - other.log_probability_at(i));
    }
    return std::max(0.0, sum);  // rounding
  }

 private:
  double log_probability_at(std::size_t token) const { return static_cast<double>(values_[token]) - log_sum_; }

  at::Tensor host_;
  std::span<const float> values_;
  std::int64_t top_;
  double log_sum_ = 0.0;
};

// The full cache's choice: sampled as the answer was, with the same draws; reasoning that reached its limit is ended for it.
class FullChoice {
 public:
  FullChoice(const RequestContext& context, const Sampling& sampling, const AnswerStart& start)
      : model_(context.model),
        sampler_(sampling),
        text_(context.model, thought_start(context.model, start.prompt_tokens())),
        limit_(context.model, longest_thought(sampling, longest_answer(context, sampling, start.state.next_position))) {}

  // seen: ids of prompt and answer so far.
  std::int64_t next(const Distribution& full, std::span<const std::int64_t> seen) {
    const std::int64_t chosen = sampler_.sample(full.values(), seen);
    return limit_.forced().value_or(chosen);
  }
  void follow(std::int64_t token) {
    text_.push(token);
    limit_.follow(text_, token);
  }
  // The token itself, or both end the answer.
  bool is(std::int64_t choice, std::int64_t token) const {
    return choice == token || (model_.stop_token_ids.contains(choice) && model_.stop_token_ids.contains(token));
  }

 private:
  const LoadedModel& model_;
  Sampler sampler_;
  AnswerText text_;
  ThoughtLimit limit_;
};

// A model may end an answer in several ways, and a text does not say which was taken: the likeliest stands for all of them.
std::int64_t meant(const LoadedModel& model, const Distribution& distribution, std::int64_t token) {
  if (!model.stop_token_ids.contains(token)) return token;
  for (const std::int64_t end : model.stop_token_ids) {
    if (end < std::ssize(distribution.values()) && distribution.log_probability(end) > distribution.log_probability(token)) token = end;
  }
  return token;
}

// The word that the full cache writes after `before`, a word's beginning or nothing. One that ends right there is told with the next one,
// so that something can be seen to differ. choices: of the full cache, after `choice`.
std::string word_of_full_cache(const RequestContext& context, const Conversation& full, std::int64_t choice, std::string before,
                               FullChoice choices) {
  Conversation state = full.fork();
  Detokenizer detokenizer(*context.model.tokenizer);
  const std::size_t known = before.size();
  std::string text = std::move(before);
  for (int step = 0; step < kLongestWord && !context.model.stop_token_ids.contains(choice); ++step) {
    text += detokenizer.push(choice);
    const std::size_t begin = known + space_length(text, known);
    const std::size_t end = begin + word_length(text, begin);
    if (end < text.size()) {
      text.resize(end);
      break;
    }
    context.interrupt.throw_if_requested();
    choices.follow(choice);
    choice = choices.next(Distribution(decode_step(context.network(), state, choice)), state.token_ids);
  }
  return text.substr(space_length(text, 0));
}

}  // namespace

Scored score_answer(const RequestContext& context, const GivenAnswer& answer, std::optional<AnswerStart> own, AnswerStart full) {
  const std::span<const std::int64_t> tokens = answer.tokens;
  require(own || answer.written_by != nullptr, "score_answer: nothing to compare the full cache with");
  std::optional<SelectionJudge> judge;
  if (own) judge.emplace(own->state, own->first_step.has_value(), full.state);
  const AnswerWords words(context.model, thought_start(context.model, full.prompt_tokens()), tokens, answer.text);
  FullChoice choices(context, answer.written_by != nullptr ? *answer.written_by : Sampling(), full);
  Agreement agreement;
  agreement.tokens = std::ssize(tokens);
  agreement.same = 0;
  double divergence = 0.0, loss = 0.0, full_loss = 0.0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    context.interrupt.throw_if_requested();
    const Distribution there(full.logits);
    std::optional<Distribution> here;
    if (own) here.emplace(own->logits);
    if (here) divergence += there.divergence_to(*here);
    if (here) loss -= here->log_probability(meant(context.model, *here, tokens[i]));
    const std::int64_t meant_there = meant(context.model, there, tokens[i]);
    full_loss -= there.log_probability(meant_there);
    const std::int64_t choice = choices.next(there, full.state.token_ids);
    if (choices.is(choice, answer.written_by != nullptr ? tokens[i] : here->top())) {
      ++*agreement.same;
    } else if (words.of_thought(i)) {
      // Counted with the others; a thought is not shown word by word.
    } else if (agreement.differences.empty() || agreement.differences.back().word != words.word_of(i)) {
      WordDifference difference;
      difference.word = words.word_of(i);
      difference.text = words.text(difference.word);
      difference.full_text = word_of_full_cache(context, full.state, choice, words.text_before(i), choices);
      if (here) difference.probability = here->probability(meant(context.model, *here, tokens[i]));
      difference.full_probability = there.probability(meant_there);
      difference.full_choice_probability = there.probability(choice);
      agreement.differences.push_back(std::move(difference));
    }
    if (i + 1 == tokens.size()) break;
    choices.follow(tokens[i]);
    if (own) {
      const bool read_before = i == 0 && own->first_step;
      own->logits = read_before ? own->first_step->logits : decode_step(context.network(), own->state, tokens[i], &judge->of_own());
    }
    full.logits = decode_step(context.network(), full.state, tokens[i], judge ? &judge->of_full() : nullptr);
    if (judge) judge->token_read();
  }
  if (!tokens.empty()) {
    const auto count = static_cast<double>(tokens.size());
    agreement.top1 = static_cast<double>(*agreement.same) / count;
    agreement.full_loss = full_loss / count;
    if (own) {
      agreement.mean_kl = divergence / count;
      agreement.loss = loss / count;
    }
  }
  if (!agreement.differences.empty()) agreement.first_diverging_word = agreement.differences.front().word;
  return {std::move(agreement), judge ? judge->figures() : std::nullopt};
}

}  // namespace winnow
