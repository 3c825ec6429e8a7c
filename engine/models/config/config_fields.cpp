#include "engine/models/config/config_fields.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "kernels/api/element_type.h"

namespace winnow {
namespace {

static_assert(kMaxHeads <= kernels::kMaxGroup && kMaxHeadDim <= kernels::kMaxHeadDim, "what is read can be run, with one kv head, too");

struct ActivationName {
  std::string_view name;
  Activation activation;
};

// gelu_new and gelu_fast are the tanh form written otherwise.
constexpr std::array<ActivationName, 8> kActivations = {{
    {"gelu", Activation::kGelu},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh},
    {"quick_gelu", Activation::kQuickGelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"relu", Activation::kRelu},
}};

}  // namespace

[[noreturn]] void unsupported(const JsonObject& object, const char* key, const std::string& reason) {
  object.refuse(ErrorCode::kUnsupportedModel, key, reason);
}

void require_model_type(const JsonObject& object, std::string_view wanted, bool may_be_absent) {
  const std::string type =
      may_be_absent ? object.string("model_type", kMaxNameBytes, std::string(wanted)) : object.string("model_type", kMaxNameBytes);
  if (type != wanted) unsupported(object, "model_type", quoted_name(type) + " is not a model that this program runs");
}

void require_vision_type(const JsonObject& vision, std::string_view family) {
  if (vision.string("model_type", kMaxNameBytes, "") != family) require_model_type(vision, std::string(family) + "_vision", true);
}

Json completed_object(const JsonObject& root, const char* key, Json defaults) {
  if (!root.has(key)) return defaults;
  const Json& given = root.value(key);
  if (!given.is_object()) root.refuse(ErrorCode::kDamagedFile, key, "it must be an object");
  for (const auto& [name, value] : given.items()) {
    if (!value.is_null()) defaults[name] = value;
  }
  return defaults;
}

Activation read_activation(const JsonObject& object, const char* key, const char* fallback) {
  const std::string name = object.string(key, kMaxNameBytes, fallback);
  const auto* found = std::ranges::find(kActivations, name, &ActivationName::name);
  if (found == kActivations.end()) unsupported(object, key, quoted_name(name) + " is not a known activation");
  return found->activation;
}

void require_whole_groups(const JsonObject& object, const char* key, std::int64_t heads, std::int64_t kv_heads) {
  if (heads % kv_heads == 0) return;
  object.refuse(ErrorCode::kDamagedFile, key,
                std::to_string(heads) + " heads are no multiple of " + std::to_string(kv_heads) + " key-value heads");
}

std::int64_t read_head_dim(const JsonObject& object, std::int64_t hidden, std::int64_t heads) {
  if (object.has("head_dim")) return object.integer("head_dim", 1, kMaxHeadDim);
  if (hidden % heads != 0) {
    object.refuse(ErrorCode::kDamagedFile, "num_attention_heads",
                  "hidden_size " + std::to_string(hidden) + " is no multiple of " + std::to_string(heads) + " heads");
  }
  if (hidden / heads > kMaxHeadDim) object.refuse(ErrorCode::kLimitExceeded, "num_attention_heads", "heads of more than 512 channels");
  return hidden / heads;
}

std::int64_t read_media_token(const JsonObject& root, std::initializer_list<const char*> keys, std::int64_t fallback,
                              std::int64_t vocabulary) {
  const std::string key = root.first_present(keys).value_or(*keys.begin());
  const std::int64_t id = root.integer(key.c_str(), 0, kMaxVocabulary, fallback);
  if (id >= vocabulary)
    root.refuse(ErrorCode::kDamagedFile, key,
                "token " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(vocabulary));
  return id;
}

}  // namespace winnow
