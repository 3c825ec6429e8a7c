// Options of presets that were measured for a model (its winnow.json): heads' attention and layers' shares, and the texts by which presets
// read them.
//
// Made by engine/models, carried by ModelInfo, put into recipes by with_measured_options(). Plain values, no torch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

using MeasuredOptions = std::map<std::string, std::string>;

inline constexpr const char* kLayerProfileOption = "profile";
inline constexpr const char* kHeadTableOption = "head_scores";

// A measured value per layer and kv head of a model: how much the head attends to media (kvzip-head).
//
// In a model's winnow.json and as a recipe's option. Plain values, no torch.
using HeadTable = std::vector<std::vector<double>>;  // per layer, per kv head; empty: not measured

// Why this is no table, as the rest of a sentence that names it ("must ..."); empty: it is one. Numbers are finite and not negative, layers
// have the same number of heads.
std::string head_table_problem(const HeadTable& table);

// "0.9:0.6/0.8:0.9": layers by /, a layer's heads by colons. parse_head_table() reads what head_table_text() writes; what is not of this
// form gives an empty table.
std::string head_table_text(const HeadTable& table);
HeadTable parse_head_table(std::string_view text);

// The share of tokens that each layer keeps, measured at several retentions (PrefixKV's offline profile).
//
// In a model's winnow.json and as a recipe's option. The shares are not linear in the retention, so no row serves another retention:
// between two rows they are read off the line that joins them. Plain values, no torch.
struct ShareRow {
  double retention = 0.0;
  std::vector<double> shares;  // one per layer of the measured model

  friend bool operator==(const ShareRow&, const ShareRow&) = default;
};
using ShareProfile = std::vector<ShareRow>;  // ascending retentions; empty: not measured

// Why this is no profile, as the rest of a sentence that names it ("must ..."); empty: it is one. Retentions ascend between 0 and 1, shares
// lie over 0 and at most at 1, and all rows have the same number of layers.
std::string profile_problem(const ShareProfile& profile);

// Shares of all layers at `retention`, in [0, 1]; the profile has a row. Below the first row and above the last the line leads to what
// needs no measurement: nothing is kept at 0, everything at 1.
std::vector<double> shares_at(const ShareProfile& profile, double retention);

// "0.1=0.05:0.15/0.5=0.4:0.6": rows by /, a row's shares by colons. parse_profile() reads what profile_text() writes; what is not of this
// form gives an empty profile.
std::string profile_text(const ShareProfile& profile);
ShareProfile parse_profile(std::string_view text);

}  // namespace winnow
