// How far an answer is what the full cache would have said: figures of a teacher-forced pass, as plain data.
//
// Made by engine/generation/answer/answer_score.h, used in events and saved with answers. The answer's tokens are fed to the full cache of
// all that was read; at every token its choice is compared with the answer's. Where the cache that wrote the answer is at hand, the tokens
// are fed to it as well, and the two next-token distributions are compared. Words are the answer's, split at white space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/metrics/fields_of.h"

namespace winnow {

// A word of the answer in which the choices differ; its first such token counts.
struct WordDifference {
  std::int64_t word = 0;  // index; the number of words where the full cache would have ended otherwise
  std::string text;       // the answer's word; empty at its end
  std::string full_text;  // what the full cache would have written from there, to the end of the word; empty: the answer would have ended
  std::optional<double> probability;     // of the answer's token under its own cache; absent where that is gone
  double full_probability = 0.0;         // of the same token under the full cache
  double full_choice_probability = 0.0;  // of the full cache's choice under the full cache
};

WINNOW_FIELDS(WordDifference, word, text, full_text, probability, full_probability, full_choice_probability)

struct Agreement {
  std::int64_t tokens = 0;  // compared: all of the answer's, the one that ended it included
  // The tokens of them that the full cache chooses as well, sampled with the answer's settings and seed. For a text that the model did not
  // write: those at which both caches' top choices are the same. Absent in what older programs saved, which asked a cache that was read
  // again for its choice.
  std::optional<std::int64_t> same{};
  double top1 = 1.0;                // the share of these
  std::optional<double> mean_kl{};  // of the answer's cache from the full one, KL(full || own), in nats per token; absent where it is gone
  // Mean of -ln of the probability of the answer's tokens, under its own cache and the full one; exp() of it is the perplexity. Absent
  // where there are none, where the answer's cache is gone (loss), for a comparison's full column, which is not read again, and in what
  // older programs saved.
  std::optional<double> loss{};
  std::optional<double> full_loss{};
  std::optional<std::int64_t> first_diverging_word{};
  std::vector<WordDifference> differences{};  // ascending by word
};
WINNOW_FIELDS(Agreement, tokens, same, top1, mean_kl, loss, full_loss, first_diverging_word, differences)

}  // namespace winnow
