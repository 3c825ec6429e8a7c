#include "engine/recipes/head_table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/recipes/number_text.h"

namespace winnow {

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

}  // namespace winnow
