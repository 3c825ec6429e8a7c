// Statistics of one layer for allocators and scorers: plain numbers, no torch.
//
// A part declares StatisticsNeeds; the recipe merges those of its parts, SegmentCompressor has each computed once per layer
// (attention_statistics.h, cross_modal_entropy.h, elite_attention.h, expected_attention.h, context_keys.h) and hands the results out.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/index.h"
#include "engine/recipes/segment_info.h"

namespace winnow {

// Which query rows of a segment a statistic looks at. All rules give one range that ends with the segment. No torch.
struct RowRule {
  enum class Kind : int { kLast = 1, kPostVision = 2 };
  Kind kind = Kind::kLast;
  std::int64_t window = 32;  // kLast: the last `window` rows
  // kPostVision: rows after the last visual token, extended backwards to at least `min_rows` and cut to the last `max_rows` (0: no limit).
  std::int64_t min_rows = 1;
  std::int64_t max_rows = 0;

  static RowRule last(std::int64_t window) { return {.window = window}; }
  static RowRule all() { return last(std::numeric_limits<std::int64_t>::max()); }

  friend bool operator==(const RowRule&, const RowRule&) = default;
};

struct RowRange {
  std::int64_t first = 0;  // rows [first, n)
  bool fallback = false;   // no row qualified: the last min(32, n) rows stand in
};

RowRange rows_of(const RowRule& rule, const SegmentInfo& segment);

// How the query heads of a group are joined into their kv head's number.
enum class GroupReduce : int { kMean = 1, kMaximum = 2, kSum = 3 };

// Statistics of the causal attention of some rows.
struct StatisticsNeed {
  RowRule rows{};
  bool column_sums = false;                 // how much attention each segment column gets from the rows
  bool column_squares = false;              // sum over rows of the squared group-mean probability
  bool head_variance = false;               // of every query head's column sums over the columns
  bool row_entropy = false;                 // mean over rows and query heads of a row's entropy
  GroupReduce reduce = GroupReduce::kMean;  // of column sums
  std::optional<double> sparsity_p{};       // share of entries below p times their row's maximum

  friend bool operator==(const StatisticsNeed&, const StatisticsNeed&) = default;
};

// Entropies between the modalities (MEDA).
struct CrossModalNeed {
  enum class Heads : int { kMeanFirst = 1, kEntropyFirst = 2 };  // entropy of the mean over heads; mean of every head's entropy
  Heads heads = Heads::kMeanFirst;
  bool causal = false;  // keys before the row only; rows without keys are left out

  friend bool operator==(const CrossModalNeed&, const CrossModalNeed&) = default;
};

// Attention of the instruction's most attended tokens to visual tokens (AirCache).
struct EliteNeed {
  enum class Heads : int { kEach = 1, kMean = 2 };     // every query head has its own elite; one for the layer, from the mean over heads
  enum class Rule : int { kMaximum = 1, kShare = 2 };  // at least alpha times the largest attention; the top 1 - alpha of the instruction
  double alpha = 0.9;                                  // of the last token's attention to the instruction
  bool all_instruction = false;  // the instruction is all of the turn's text, not only what follows the last visual token
  Heads heads = Heads::kEach;
  Rule rule = Rule::kMaximum;

  friend bool operator==(const EliteNeed&, const EliteNeed&) = default;
};

// Attention that the context's slots may expect of the queries that come next, if these are like those of the context, or of a probe's
// rows.
struct ExpectedNeed {
  std::int64_t horizon = 512;  // positions after the segment over which the rotation is averaged

  friend bool operator==(const ExpectedNeed&, const ExpectedNeed&) = default;
};

// A probe: what rows that stand for every later question think of the context's slots, computed by a pass behind the cache, which leaves no
// trace (engine/generation/reading/context_probe.h). They differ in what the rows are.

// A slot's vote is the largest probability over rows and the group's query heads,
struct ByAttention {
  bool norms = false;  // probabilities weighed by what the slot adds to the row: norm(W_O v) / norm(x) (KVzip+)

  friend bool operator==(const ByAttention&, const ByAttention&) = default;
};
// or what the slot is expected to give to queries like the rows', (a + epsilon) norm(v) (Expected Attention).
struct ByExpectation {
  ExpectedNeed expected;
  double epsilon = 0.0;

  friend bool operator==(const ByExpectation&, const ByExpectation&) = default;
};
using WordJudgement = std::variant<ByAttention, ByExpectation>;

// How the context's rows come once more: run again behind it, or, without a second pass, with the queries that they had when they were
// read.
enum class Repetition : int { kRunAgain = 1, kAsRead = 2 };

// The rows are the context once more, as if the model repeated it (KVzip).
struct RepetitionProbe {
  std::int64_t chunk = 2000;  // slots that are run again and judged at a time, whole frames; 0: all at once
  ByAttention judgement{};
  Repetition rows = Repetition::kRunAgain;

  friend bool operator==(const RepetitionProbe&, const RepetitionProbe&) = default;
};
// A request to describe it and the model's own answer.
struct DescriptionProbe {
  std::vector<std::string> ask{};          // what is asked instead of a description, each by itself
  std::int64_t answer_tokens = 256;        // the longest answer
  std::optional<Repetition> repetition{};  // and the context once more, all at once: the larger of the two
  WordJudgement judgement{};
  std::int64_t text_tokens = answer_tokens;  // the longest description of documents alone; an answer to `ask` may be longer

  friend bool operator==(const DescriptionProbe&, const DescriptionProbe&) = default;
};
// The request alone.
struct RequestProbe {
  std::vector<std::string> ask{};  // as above
  WordJudgement judgement{};

  friend bool operator==(const RequestProbe&, const RequestProbe&) = default;
};
// The template's text between a question and its answer; the mean of what the media alone share (StreamMem).
struct TemplateProbe {
  ByAttention judgement{};

  friend bool operator==(const TemplateProbe&, const TemplateProbe&) = default;
};
// The question itself, when it comes: likeness of its queries and each frame's keys, not attention (ReKV). No probe pass.
struct QuestionProbe {
  bool cosine = false;  // likeness by direction alone

  friend bool operator==(const QuestionProbe&, const QuestionProbe&) = default;
};
using ProbeNeed = std::variant<RepetitionProbe, DescriptionProbe, RequestProbe, TemplateProbe, QuestionProbe>;

// The judgement of a repetition of rows as they were read; null: nothing is judged while the context is read.
const ByAttention* judged_as_read(const ProbeNeed& need);

// The questions asked instead of a description; empty: that, or nothing is asked.
std::span<const std::string> asked_instead(const ProbeNeed& need);

// How much a slot of a video differs from what its place shows in the newest frames (InfiniPot-V).
struct ChangeNeed {
  double recent_share = 0.125;  // of the frames held; at least one
  bool by_rank = false;         // frames and places are counted off among the slots that are left, as the authors' code has it

  friend bool operator==(const ChangeNeed&, const ChangeNeed&) = default;
};

struct StatisticsNeeds {
  std::vector<StatisticsNeed> attention{};
  std::optional<CrossModalNeed> cross_modal{};
  std::optional<EliteNeed> elite{};
  std::optional<ProbeNeed> probe{};
  bool key_likeness = false;
  bool value_norms = false;
  std::optional<ExpectedNeed> expected{};
  std::optional<ChangeNeed> change{};  // phase stream only

  bool of_prefill() const { return !attention.empty() || cross_modal || elite || key_likeness || value_norms || expected || change; }
  bool empty() const { return !of_prefill() && !probe; }
};

// One number per kv head and segment column: values[head * columns + column].
struct HeadScores {
  std::int64_t heads = 0;
  std::int64_t columns = 0;
  std::vector<float> values;

  bool empty() const { return values.empty(); }
  std::span<const float> row(std::int64_t head) const {
    return std::span(values).subspan(static_cast<std::size_t>(head * columns), static_cast<std::size_t>(columns));
  }
  std::span<float> row(std::int64_t head) {
    return std::span(values).subspan(static_cast<std::size_t>(head * columns), static_cast<std::size_t>(columns));
  }
};

// The mean over all kv heads, as scores of one head.
HeadScores mean_over_heads(const HeadScores& scores);

struct RowStatistics {
  RowRule rows;
  GroupReduce reduce = GroupReduce::kMean;
  std::int64_t row_count = 0;
  HeadScores column_sums{};                        // [kv_heads, n]; empty if nobody asked
  HeadScores column_squares{};                     // [kv_heads, n]; empty if nobody asked
  std::vector<std::vector<float>> past_sums{};     // per kv head: the same sums over retained slots, in slot order; with column_sums
  std::vector<std::vector<float>> past_squares{};  // with column_squares
  std::vector<double> head_variance{};             // per query head, population variance over the n columns; empty if nobody asked
  double row_entropy = 0.0;                        // natural log
  std::vector<std::int64_t> zero_counts{};         // per query head: entries below p times the row maximum; empty if nobody asked
  double sparsity = 0.0;                           // mean over query heads of zero count / allowed entries; NaN if a row was not finite
};

struct CrossModalEntropy {
  bool defined = false;  // both modalities are present
  double text_to_visual = 0.0;
  double visual_to_text = 0.0;
};

struct EliteAttention {
  std::vector<std::int64_t> visual;              // rows of the segment's visual tokens
  HeadScores importance;                         // [kv_heads, n]: group means; 0 outside the visual columns
  std::vector<std::vector<std::int64_t>> elite;  // per query head: rows, ascending
  double strength = 0.0;                         // sum over visual columns of the mean over all query heads
  double skew = 0.0;                             // adjusted skewness of the same
  bool fallback = false;                         // no instruction after the last visual token
};

struct LayerStatistics {
  LayerId layer{};
  std::vector<RowStatistics> by_rows{};
  std::optional<CrossModalEntropy> cross_modal{};
  std::optional<EliteAttention> elite{};
  // [kv_heads, n], 0 outside the context (from the first visual token to the last); empty if nobody asked.
  std::optional<HeadScores> probe{};
  HeadScores key_likeness{};  // cosine between a key and the mean direction of the context's keys
  HeadScores value_norms{};   // Euclidean
  HeadScores expected{};      // probability that a later query gives the slot among the context's; mean over the group

  // The statistics computed for this rule; a part only asks for what it declared.
  const RowStatistics& at(const RowRule& rows, GroupReduce reduce = GroupReduce::kMean) const;
  // The same, which is then no longer here.
  RowStatistics taken(const RowRule& rows, GroupReduce reduce = GroupReduce::kMean);
};

// Needs over the same rows (and group reduction) are served by one pass. Throws kIllegalRecipe if two parts want the same statistic with
// different settings.
StatisticsNeeds merge_needs(std::span<const StatisticsNeeds> needs);

// Statistics of a kv head's slots of media that come in clips, when a clip has been read (phase stream). Plain numbers, no torch.
//
// Computed by engine/compression/statistics/streamed_keys.h as a scorer declares it, read by Scorer::stream_scores().

// Lists have one entry per slot, in slot order; empty: nobody asked.
struct StreamedSlots {
  LayerId layer{0};
  KvHead head{0};
  std::vector<std::int32_t> originals{};  // the tokens' original indices; always there
  std::vector<float> key_likeness{};      // cosine between a key and the mean direction of the head's keys
  std::vector<float> value_norms{};       // Euclidean
  std::vector<float> change{};            // minus the mean cosine between a key and those of the same place in the newest frames; -1 to 1
  std::vector<std::uint8_t> recent{};     // 1: of the newest frames themselves; with change
};

}  // namespace winnow
