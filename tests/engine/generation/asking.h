// The same turn with another question.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/messages/requests.h"

namespace winnow::testing {

// Empty: without one.
inline Turn asking(Turn turn, const std::string& question) {
  std::vector<Item>& items = turn.messages.back().items;
  std::erase_if(items, [](const Item& item) { return std::holds_alternative<TextItem>(item); });
  if (!question.empty()) items.emplace_back(TextItem{question});
  return turn;
}

}  // namespace winnow::testing
