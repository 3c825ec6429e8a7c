#include "engine/generation/answer/answer_score.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/answer/answer_words.h"
#include "engine/generation/answer/selection_judge.h"
#include "engine/generation/conversation/decode_step.h"
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

// The word that the full cache writes after `before`, a word's beginning or nothing. One that ends right there is told with the next one,
// so that something can be seen to differ.
std::string word_of_full_cache(const RequestContext& context, const Conversation& full, std::int64_t choice, std::string before) {
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
    choice = Distribution(decode_step(context.network(), state, choice)).top();
  }
  return text.substr(space_length(text, 0));
}

}  // namespace

Scored score_answer(const RequestContext& context, const GivenAnswer& answer, AnswerStart own, AnswerStart full) {
  const std::span<const std::int64_t> tokens = answer.tokens;
  SelectionJudge judge(own.state, own.first_step.has_value(), full.state);
  const AnswerWords words(context.model, thought_start(context.model, own.prompt_tokens()), tokens, answer.text);
  Agreement agreement;
  agreement.tokens = std::ssize(tokens);
  std::int64_t same = 0;
  double divergence = 0.0, loss = 0.0, full_loss = 0.0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    context.interrupt.throw_if_requested();
    const Distribution here(own.logits);
    const Distribution there(full.logits);
    divergence += there.divergence_to(here);
    loss -= here.log_probability(tokens[i]);
    full_loss -= there.log_probability(tokens[i]);
    if (here.top() == there.top()) {
      ++same;
    } else if (words.of_thought(i)) {
      // Counted with the others; a thought is not shown word by word.
    } else if (agreement.differences.empty() || agreement.differences.back().word != words.word_of(i)) {
      WordDifference difference;
      difference.word = words.word_of(i);
      difference.text = words.text(difference.word);
      difference.full_text = word_of_full_cache(context, full.state, there.top(), words.text_before(i));
      difference.probability = here.probability(tokens[i]);
      difference.full_probability = there.probability(tokens[i]);
      difference.full_choice_probability = there.probability(there.top());
      agreement.differences.push_back(std::move(difference));
    }
    if (i + 1 == tokens.size()) break;
    const bool read_before = i == 0 && own.first_step;
    own.logits = read_before ? own.first_step->logits : decode_step(context.network(), own.state, tokens[i], &judge.of_own());
    full.logits = decode_step(context.network(), full.state, tokens[i], &judge.of_full());
    judge.token_read();
  }
  if (!tokens.empty()) {
    const auto count = static_cast<double>(tokens.size());
    agreement.top1 = static_cast<double>(same) / count;
    agreement.mean_kl = divergence / count;
    agreement.loss = loss / count;
    agreement.full_loss = full_loss / count;
  }
  if (!agreement.differences.empty()) agreement.first_diverging_word = agreement.differences.front().word;
  return {std::move(agreement), judge.figures()};
}

}  // namespace winnow
