#include "engine/recipes/measured_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace winnow {
namespace {

// Numbers in the texts of options that hold many of them.
std::optional<double> number_of(std::string_view text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The shortest text that number_of() reads as the same number.
std::string number_text(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end};
}

// The text up to `mark`, which is taken off `rest` with it; the rest if there is none.
std::string_view next_part(std::string_view& rest, char mark) {
  const std::size_t at = rest.find(mark);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

}  // namespace

std::string head_table_problem(const HeadTable& table) {
  for (const std::vector<double>& layer : table) {
    if (layer.empty() || layer.size() != table.front().size()) return "must have one number per head in every layer";
    if (!std::all_of(layer.begin(), layer.end(), [](double score) { return std::isfinite(score) && score >= 0.0; }))
      return "must have numbers that are not negative";
  }
  return {};
}

std::string head_table_text(const HeadTable& table) {
  std::string text;
  for (const std::vector<double>& layer : table) {
    if (!text.empty()) text += '/';
    for (std::size_t head = 0; head < layer.size(); ++head) {
      if (head > 0) text += ':';
      text += number_text(layer[head]);
    }
  }
  return text;
}

HeadTable parse_head_table(std::string_view text) {
  HeadTable table;
  while (!text.empty()) {
    std::string_view row = next_part(text, '/');
    std::vector<double>& layer = table.emplace_back();
    while (!row.empty()) {
      const std::optional<double> score = number_of(next_part(row, ':'));
      if (!score) return {};
      layer.push_back(*score);
    }
  }
  return table;
}

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
