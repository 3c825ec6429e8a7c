// How good a choice of slots was, judged by a full-cache reference run (methods' evaluation definitions, 4.1). Plain numbers, no torch.
//
// Used by tests and by whoever has attention rows of a reference run. A row is [columns] of non-negative attention; columns are token
// indices from 0; `members` marks the columns of one modality among the prompt's. Ties go to the smaller column. Pure; any thread.
// Errors: Exception(kInternal) for inputs whose lengths do not fit.
#pragma once

#include <span>
#include <vector>

namespace winnow {

using AttentionRow = std::vector<double>;

// The k columns with the highest attention, ascending.
std::vector<int> top_columns(std::span<const double> row, int k);

// Share of the k best prompt columns that the policy kept. `row`: the first decoded token over the prompt's columns. kept: ascending.
double cache_hit_rate(std::span<const double> row, std::span<const int> kept, int k);

// Share of a row's attention that goes to the columns kept; 0 for a row without any. kept: ascending, within the row.
double kept_attention(std::span<const double> row, std::span<const int> kept);

// A value below p times the row's maximum becomes 0.
AttentionRow threshold_filter(std::span<const double> row, double p);

// Share of causal entries that the filter sets to 0. rows[i] holds the columns that row i may see: its length is its causal length.
double sparsity(std::span<const AttentionRow> rows, double p);

// Mean over decoded rows of the filtered attention on one modality over that on the whole prompt (columns [0, members.size())). Rows
// without attention on the prompt count as 0.
double contribution(std::span<const AttentionRow> rows, const std::vector<bool>& members, double p);

// Mean over decoded rows of the share of one modality among those of the row's top k = floor(rho * length) that lie in the prompt. Rows
// without any count as 0.
double coverage(std::span<const AttentionRow> rows, const std::vector<bool>& members, double rho);

// |full - compressed| / |full| in the Euclidean norm; 0 for 0 against 0, infinity for something against 0.
double attention_output_error(std::span<const float> full, std::span<const float> compressed);

}  // namespace winnow
