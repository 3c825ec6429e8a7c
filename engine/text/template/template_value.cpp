#include "engine/text/template/template_value.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow::chat {
namespace {

int checked_depth(int deepest) {
  if (deepest >= kMaxValueDepth) throw Exception(ErrorCode::kLimitExceeded, "chat template", "makes values that nest deeper than 64");
  return deepest + 1;
}

}  // namespace

bool Value::truthy() const {
  if (const auto* v = get<bool>()) return *v;
  if (const auto* v = get<std::int64_t>()) return *v != 0;
  if (const auto* v = get<double>()) return *v != 0;
  if (const Text* v = text()) return v->size() > 0;
  if (const ListData* v = list()) return !v->items.empty();
  if (const DictData* v = dict()) return !v->items.empty();
  return !is_undefined() && !is_none();
}

const char* Value::type_name() const {
  static constexpr const char* kNames[] = {"undefined", "none",    "boolean",   "integer", "float",   "string",
                                           "list",      "mapping", "namespace", "macro",   "function"};
  return kNames[data_.index()];
}

Value make_list(std::vector<Value> items) {
  int deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, item.depth());
  auto data = std::make_shared<ListData>();
  data->depth = checked_depth(deepest);
  data->items = std::move(items);
  return Value::Data(Value::List(std::move(data)));
}

Value make_dict(std::vector<std::pair<Value, Value>> items) {
  int deepest = 0;
  for (const auto& [key, value] : items) deepest = std::max(deepest, value.depth());
  auto data = std::make_shared<DictData>();
  data->depth = checked_depth(deepest);
  data->items = std::move(items);
  return Value::Data(Value::Dict(std::move(data)));
}

const Value* find_key(const DictData& dict, std::string_view key) {
  for (const auto& [name, value] : dict.items) {
    if (const Text* text = name.text(); text != nullptr && text->bytes() == key) return &value;
  }
  return nullptr;
}

}  // namespace winnow::chat
