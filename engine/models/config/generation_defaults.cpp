#include "engine/models/config/generation_defaults.h"

#include <string_view>
#include <type_traits>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxEndTokens = 64;

std::optional<std::int64_t> read_token_id(const JsonObject& object, const char* key, std::int64_t vocabulary) {
  const std::vector<std::int64_t> ids = read_token_ids(object, key, vocabulary);
  if (ids.empty()) return std::nullopt;
  return ids.front();
}

}  // namespace

std::vector<std::int64_t> read_token_ids(const JsonObject& object, const char* key, std::int64_t vocabulary) {
  if (!object.has(key)) return {};
  if (object.value(key).is_array()) return object.integers(key, 0, vocabulary - 1, kMaxEndTokens);
  return {object.integer(key, 0, vocabulary - 1)};
}

GenerationDefaults read_generation_defaults(const ModelPackage& package, std::int64_t vocabulary) {
  const ModelDocument* document = package.document(ModelPart::kGeneration);
  if (document == nullptr) return {};
  const JsonObject root = document->root();
  return {.eos_token_ids = read_token_ids(root, "eos_token_id", vocabulary),
          .pad_token_id = read_token_id(root, "pad_token_id", vocabulary),
          .bos_token_id = read_token_id(root, "bos_token_id", vocabulary)};
}

SamplingChoice read_recommended_sampling(const ModelPackage& package) {
  const ModelDocument* document = package.document(ModelPart::kGeneration);
  if (document == nullptr) return {};
  const JsonObject root = document->root();
  SamplingChoice choice;
  visit_choices(choice, [&root](const SamplingField& field, auto& value) {
    using Value = typename std::remove_reference_t<decltype(value)>::value_type;
    const std::string_view name = field.name;
    // The first are the conversation's own.
    if (name == "seed" || name == "max_new_tokens" || name == "thought_tokens" || !root.has(field.name)) return;
    if constexpr (std::is_same_v<Value, double>) {
      value = root.real(field.name, field.least, field.most);
    } else {
      value = static_cast<Value>(root.integer(field.name, static_cast<std::int64_t>(field.least), static_cast<std::int64_t>(field.most)));
    }
  });
  if (choice.empty() && !root.has("do_sample")) return {};
  choice.temperature = root.boolean("do_sample", false) ? choice.temperature.value_or(1.0) : 0.0;
  return choice;
}

}  // namespace winnow
