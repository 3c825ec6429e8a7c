#include "engine/speech/window_decoding.h"

#include <ATen/ATen.h>
#include <zlib.h>

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/sampling/sampler.h"

namespace winnow {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// The work of transformers' logits processors on a window's logits.
class TimeRules {
 public:
  explicit TimeRules(const WhisperTokens& tokens)
      : tokens_(tokens),
        suppressed_(index_on(at::kCPU, tokens.suppressed)),
        suppressed_first_(index_on(at::kCPU, tokens.suppressed_first)) {}

  // logits: fp32 [vocabulary], overwritten. so_far: the answer's tokens.
  void apply(at::Tensor& logits, std::span<const std::int64_t> so_far) const {
    if (so_far.empty() && suppressed_first_.numel() > 0) logits.index_fill_(0, suppressed_first_, kNever);
    if (suppressed_.numel() > 0) logits.index_fill_(0, suppressed_, kNever);
    logits[tokens_.no_timestamps].fill_(kNever);
    const std::int64_t first = tokens_.first_time();
    keep_pairs(logits, so_far);
    if (so_far.empty()) {
      leave_out(logits, 0, first);
      leave_out(logits, first + tokens_.latest_first_time + 1, logits.size(0));
    }
    const at::Tensor likely = logits.log_softmax(0);
    const bool time = (likely.narrow(0, first, likely.size(0) - first).logsumexp(0) > likely.narrow(0, 0, first).max()).item<bool>();
    if (time) leave_out(logits, 0, first);
  }

 private:
  bool is_time(std::int64_t token) const { return token >= tokens_.first_time(); }
  static void leave_out(at::Tensor& logits, std::int64_t from, std::int64_t to) {
    if (from < to) logits.narrow(0, from, to - from).fill_(kNever);
  }
  void keep_pairs(at::Tensor& logits, std::span<const std::int64_t> so_far) const {
    const bool last = !so_far.empty() && is_time(so_far.back());
    const bool before = so_far.size() < 2 || is_time(so_far[so_far.size() - 2]);
    if (last && before) leave_out(logits, tokens_.first_time(), logits.size(0));
    if (last && !before) leave_out(logits, 0, tokens_.end);
    for (auto token = so_far.rbegin(); token != so_far.rend(); ++token) {
      if (!is_time(*token)) continue;
      return leave_out(logits, tokens_.first_time(), std::min(*token + (last && !before ? 0 : 1), logits.size(0)));
    }
  }

  const WhisperTokens& tokens_;
  const at::Tensor suppressed_, suppressed_first_;
};

// transformers compresses the ids, each in as many bytes as the vocabulary needs, least byte first.
double compression_of(std::span<const std::int64_t> tokens, std::int64_t vocabulary) {
  const int bytes = static_cast<int>(std::log2(static_cast<double>(vocabulary)) / 8.0) + 1;
  std::vector<Bytef> written;
  for (const std::int64_t token : tokens)
    for (int byte = 0; byte < bytes; ++byte) written.push_back(static_cast<Bytef>(token >> (8 * byte)));
  uLongf size = compressBound(static_cast<uLong>(written.size()));
  std::vector<Bytef> packed(size);
  require(compress(packed.data(), &size, written.data(), static_cast<uLong>(written.size())) == Z_OK, "speech: zlib has no room");
  return static_cast<double>(written.size()) / static_cast<double>(size);
}

// One try. Returns the tokens, the end included where there is one.
WindowTokens decode_at(double temperature, WhisperModel::Window& window, const WhisperConfig& config, std::span<const std::int64_t> prompt,
                       const InterruptToken& interrupt) {
  const TimeRules rules(config.tokens);
  Sampling sampling;
  sampling.temperature = temperature;
  Sampler sampler(sampling);
  WindowTokens answer;
  answer.temperature = temperature;
  window.begin_anew();
  const at::Tensor first = window.all_logits(prompt);
  answer.no_speech = first.select(0, 0).softmax(0)[config.tokens.no_speech()].item<double>();
  at::Tensor logits = first.select(0, first.size(0) - 1).clone();
  double sum = 0.0;
  while (true) {
    interrupt.throw_if_requested();
    rules.apply(logits, answer.tokens);
    const std::int64_t token = sampler.sample({logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel())}, {});
    sum += logits.log_softmax(0)[token].item<double>();
    answer.tokens.push_back(token);
    if (token == config.tokens.end || window.tokens() + 1 >= config.target_positions) break;
    logits = window.logits({&token, 1});
  }
  answer.mean_log_probability = sum / static_cast<double>(answer.tokens.size());
  answer.compression = compression_of(answer.tokens, config.vocabulary);
  return answer;
}

}  // namespace

WindowTokens decode_window(WhisperModel::Window& window, const WhisperConfig& config, std::span<const std::int64_t> prompt,
                           const FallbackRules& rules, const InterruptToken& interrupt) {
  WindowTokens answer;
  for (const double temperature : rules.temperatures) {
    answer = decode_at(temperature, window, config, prompt, interrupt);
    const bool unlikely = answer.mean_log_probability < rules.least_mean_log_probability;
    answer.spoken = !(unlikely && answer.no_speech > rules.most_no_speech);
    if (!answer.spoken || (!unlikely && answer.compression <= rules.most_compression)) break;
  }
  if (answer.tokens.back() == config.tokens.end) answer.tokens.pop_back();
  return answer;
}

std::int64_t spoken_language(WhisperModel::Window& window, const WhisperTokens& tokens) {
  window.begin_anew();
  const std::int64_t start = tokens.start;
  const at::Tensor logits = window.logits({&start, 1});
  std::int64_t best = tokens.languages.front().second;
  for (const auto& [code, id] : tokens.languages) {
    if (logits[id].item<float>() > logits[best].item<float>()) best = id;
  }
  return best;
}

}  // namespace winnow
