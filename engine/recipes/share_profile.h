// The share of tokens that each layer keeps, measured at several retentions (PrefixKV's offline profile).
//
// In a model's winnow.json and as a recipe's option. The shares are not linear in the retention, so no row serves another retention:
// between two rows they are read off the line that joins them. Plain values, no torch. Used by models, recipes and the window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

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
