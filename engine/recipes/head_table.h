// A measured value per layer and kv head of a model: how much the head attends to media (kvzip-head).
//
// In a model's winnow.json and as a recipe's option. Plain values, no torch. Used by models, recipes and the window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

using HeadTable = std::vector<std::vector<double>>;  // per layer, per kv head; empty: not measured

// Why this is no table, as the rest of a sentence that names it ("must ..."); empty: it is one. Numbers are finite and not negative, layers
// have the same number of heads.
std::string head_table_problem(const HeadTable& table);

// "0.9:0.6/0.8:0.9": layers by /, a layer's heads by colons. parse_head_table() reads what head_table_text() writes; what is not of this
// form gives an empty table.
std::string head_table_text(const HeadTable& table);
HeadTable parse_head_table(std::string_view text);

}  // namespace winnow
