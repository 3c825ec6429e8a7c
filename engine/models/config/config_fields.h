// Fields of config.json that several families share, with their ranges (caps against hostile folders).
//
// Used by decoder_config.h, vit_config.h and the families' configurations. Sizes must be written even where transformers has a default,
// because a silent default hides a damaged file. Exceptions: Llama and Mistral, whose sizes LLaVA's published files omit. Errors:
// Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject. No torch. Threads: plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/text/quoted_name.h"

namespace winnow {

inline constexpr std::int64_t kMaxHidden = 32'768;
inline constexpr std::int64_t kMaxIntermediate = 262'144;
inline constexpr std::int64_t kMaxLayers = 256;
inline constexpr std::int64_t kMaxHeads = 256;
inline constexpr std::int64_t kMaxHeadDim = 512;
inline constexpr std::int64_t kMaxExperts = 1024;
inline constexpr std::int64_t kMaxVocabulary = 1'000'000;
inline constexpr std::size_t kMaxNameBytes = 128;
inline constexpr double kMinEpsilon = 1e-12;

[[noreturn]] void unsupported(const JsonObject& object, const char* key, const std::string& reason);

void require_model_type(const JsonObject& object, std::string_view wanted, bool may_be_absent);

// Accepts as a vision_config's model_type the family's name, the same with "_vision" (as transformers 5 saves it), or none.
void require_vision_type(const JsonObject& vision, std::string_view family);

// The object under `key`, completed from `defaults`; null entries count as missing.
Json completed_object(const JsonObject& root, const char* key, Json defaults);

Activation read_activation(const JsonObject& object, const char* key, const char* fallback);

// Requires heads to be a multiple of kv_heads; key: that of kv_heads.
void require_whole_groups(const JsonObject& object, const char* key, std::int64_t heads, std::int64_t kv_heads);

// Default: hidden / heads.
std::int64_t read_head_dim(const JsonObject& object, std::int64_t hidden, std::int64_t heads);

// The id of a medium's placeholder token, from the first key present.
std::int64_t read_media_token(const JsonObject& root, std::initializer_list<const char*> keys, std::int64_t fallback,
                              std::int64_t vocabulary);

}  // namespace winnow
