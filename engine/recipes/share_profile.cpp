#include "engine/recipes/share_profile.h"

#include <algorithm>
#include <optional>

#include "engine/recipes/number_text.h"

namespace winnow {

std::string profile_problem(const ShareProfile& profile) {
  double before = 0.0;
  for (const ShareRow& row : profile) {
    // Written so that NaN is refused too.
    if (!(row.retention > before && row.retention < 1.0)) return "must have rows of ascending retentions between 0 and 1";
    before = row.retention;
    if (row.shares.empty() || row.shares.size() != profile.front().shares.size()) return "must have one share per layer in every row";
    if (!std::all_of(row.shares.begin(), row.shares.end(), [](double share) { return share > 0.0 && share <= 1.0; })) {
      return "must have shares over 0 and at most 1";
    }
  }
  return {};
}

std::vector<double> shares_at(const ShareProfile& profile, double retention) {
  const std::size_t layers = profile.front().shares.size();
  ShareRow below{0.0, std::vector<double>(layers, 0.0)};
  ShareRow above{1.0, std::vector<double>(layers, 1.0)};
  for (const ShareRow& row : profile) {
    if (row.retention <= retention) {
      below = row;
    } else {
      above = row;
      break;
    }
  }
  const double part = (retention - below.retention) / (above.retention - below.retention);
  std::vector<double> shares;
  for (std::size_t layer = 0; layer < layers; ++layer) shares.push_back((1.0 - part) * below.shares[layer] + part * above.shares[layer]);
  return shares;
}

std::string profile_text(const ShareProfile& profile) {
  std::string text;
  for (const ShareRow& row : profile) {
    if (!text.empty()) text += '/';
    text += number_text(row.retention);
    char mark = '=';
    for (const double share : row.shares) {
      text += mark + number_text(share);
      mark = ':';
    }
  }
  return text;
}

ShareProfile parse_profile(std::string_view text) {
  ShareProfile profile;
  while (!text.empty()) {
    std::string_view row = next_part(text, '/');
    const std::optional<double> retention = number_of(next_part(row, '='));
    if (!retention) return {};
    profile.push_back({*retention, {}});
    while (!row.empty()) {
      const std::optional<double> share = number_of(next_part(row, ':'));
      if (!share) return {};
      profile.back().shares.push_back(*share);
    }
  }
  return profile;
}

}  // namespace winnow
