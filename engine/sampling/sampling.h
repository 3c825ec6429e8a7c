// How the next token is sampled, and the part of it that was chosen explicitly. Plain data; used by engine/sampling, sent with a Turn, kept
// with a chat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow {

struct Sampling {
  // The range for programs and files; the sampler itself accepts more.
  static constexpr double kMostTemperature = 100.0;
  static constexpr int kMostTopK = 1 << 20;
  static constexpr double kLeastRepetitionPenalty = 0.01;
  static constexpr double kMostRepetitionPenalty = 1e6;
  static constexpr int kMostNewTokens = 1 << 20;
  // For thought_tokens: whether and how long the model thinks is its chat template's matter.
  static constexpr int kAsManyThoughtsAsTheModel = -1;
  // For a chosen max_new_tokens (SamplingChoice): the answer goes on to its end, see answer_to_the_end().
  static constexpr int kToTheEnd = 0;
  static constexpr int kLongestUnasked = 8192;  // tokens of an answer that nobody has limited
  static constexpr int kRoom = 256;             // of room_tokens, without reasoning
  // For told_probabilities: tokens come as text alone.
  static constexpr int kNoProbabilities = -1;

  double temperature = 0.0;  // 0: greedy
  int top_k = 0;             // 0: off
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  std::uint64_t seed = 0;
  int max_new_tokens = 256;  // thinking included
  // Set where nobody chose max_new_tokens: the answer ends with the model's context as well, where so many tokens are enough room for it;
  // reasoning leaves a quarter of it; a server is told no limit. 0: all of max_new_tokens must fit into the context.
  int room_tokens = 0;
  int thought_tokens = kAsManyThoughtsAsTheModel;  // of max_new_tokens; then thinking is ended for the model. 0: at once
  std::vector<std::string> stop_strings{};         // of the answer, not of thinking
  int told_probabilities = kNoProbabilities;       // of each token and of so many of the likeliest: TokenSampled

  bool limit_chosen() const { return room_tokens == 0; }
  void limit(int tokens) {
    max_new_tokens = tokens;
    room_tokens = 0;
  }
  // The tokens of the context after the prompt that an answer needs.
  int needed_tokens() const { return limit_chosen() ? max_new_tokens : std::min(room_tokens, max_new_tokens); }

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

// The explicitly chosen part: a model's own defaults, a chat's settings. Absent fields are decided elsewhere.
struct SamplingChoice {
  std::optional<double> temperature{};
  std::optional<int> top_k{};
  std::optional<double> top_p{};
  std::optional<double> min_p{};
  std::optional<double> repetition_penalty{};
  std::optional<std::uint64_t> seed{};
  std::optional<int> max_new_tokens{};  // or kToTheEnd
  std::optional<int> thought_tokens{};  // chosen: 0 switches thinking off, more switches it on

  bool empty() const { return *this == SamplingChoice(); }
  friend bool operator==(const SamplingChoice&, const SamplingChoice&) = default;
};

// A field's JSON key, and its range in files and forms.
struct SamplingField {
  const char* name;
  double least;
  double most;
};

// visit(SamplingField, std::optional<...>&) for every field, in the order in which they act.
template <class Choice, class Visit>
void visit_choices(Choice& choice, const Visit& visit) {
  visit(SamplingField{"temperature", 0.0, Sampling::kMostTemperature}, choice.temperature);
  visit(SamplingField{"top_k", 0.0, Sampling::kMostTopK}, choice.top_k);
  visit(SamplingField{"top_p", 0.0, 1.0}, choice.top_p);
  visit(SamplingField{"min_p", 0.0, 1.0}, choice.min_p);
  visit(SamplingField{"repetition_penalty", Sampling::kLeastRepetitionPenalty, Sampling::kMostRepetitionPenalty},
        choice.repetition_penalty);
  visit(SamplingField{"seed", 0.0, 0x1.0p64}, choice.seed);
  visit(SamplingField{"max_new_tokens", Sampling::kToTheEnd, Sampling::kMostNewTokens}, choice.max_new_tokens);
  visit(SamplingField{"thought_tokens", Sampling::kAsManyThoughtsAsTheModel, Sampling::kMostNewTokens}, choice.thought_tokens);
}

// Every field chosen.
inline SamplingChoice choice_of(const Sampling& sampling) {
  return {sampling.temperature,
          sampling.top_k,
          sampling.top_p,
          sampling.min_p,
          sampling.repetition_penalty,
          sampling.seed,
          sampling.limit_chosen() ? sampling.max_new_tokens : Sampling::kToTheEnd,
          sampling.thought_tokens};
}

// `base` with the chosen fields replaced.
inline Sampling with_choice(Sampling base, const SamplingChoice& choice) {
  base.temperature = choice.temperature.value_or(base.temperature);
  base.top_k = choice.top_k.value_or(base.top_k);
  base.top_p = choice.top_p.value_or(base.top_p);
  base.min_p = choice.min_p.value_or(base.min_p);
  base.repetition_penalty = choice.repetition_penalty.value_or(base.repetition_penalty);
  base.seed = choice.seed.value_or(base.seed);
  if (choice.max_new_tokens == Sampling::kToTheEnd) {
    base.max_new_tokens = Sampling::kLongestUnasked;
    base.room_tokens = Sampling::kRoom;
  } else if (choice.max_new_tokens) {
    base.limit(*choice.max_new_tokens);
  }
  base.thought_tokens = choice.thought_tokens.value_or(base.thought_tokens);
  return base;
}

}  // namespace winnow
