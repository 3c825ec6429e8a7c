// "quantization_config" of a folder's config.json, read and checked.
//
// Read by hugging_face_folder.h before a tensor file is opened. Known: AWQ (version gemm), GPTQ (4 and 8 bits, both ways to write zero
// points down), compressed-tensors (pack-quantized, int-quantized, naive-quantized; integers of 4 and 8 bits). What is done to activations
// or to the cache is not asked: this program has its own ways. Which matrices are quantised say their tensors (quantised_tensors.h), so
// that lists of modules need no reading. Errors: Exception; kUnsupportedModel by the name of what is not known, kDamagedFile,
// kLimitExceeded. No torch. Threads: plain values. Source: AutoAWQ 0.2.9, AutoGPTQ 0.7.1, compressed-tensors 0.20.0.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/json_document.h"

namespace winnow {

enum class QuantisationMethod : int { kAwq = 1, kGptq = 2, kCompressedTensors = 3 };

struct QuantisationConfig {
  static constexpr std::int64_t kOwn = 0;         // each matrix has its own, which its tensors say
  static constexpr std::int64_t kWholeRows = -1;  // all inputs of an output share a scale

  QuantisationMethod method = QuantisationMethod::kAwq;
  std::int64_t bits = kOwn;
  std::int64_t group = kOwn;    // inputs that share a scale, a multiple of 32
  bool symmetric = false;       // GPTQ: zero is the middle of the codes everywhere
  bool ordered = false;         // GPTQ: a list says which group an input belongs to (desc_act)
  bool zeros_less_one = false;  // GPTQ: what is written down of a zero point is one less
};

// config: config.json. Nothing: it does not say that weights were quantised.
std::optional<QuantisationConfig> read_quantisation(const JsonObject& config);

}  // namespace winnow
