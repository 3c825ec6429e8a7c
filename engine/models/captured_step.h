// A decode step of a GPU that is launched as a whole: recorded once (a CUDA graph), it serves the tokens that follow, for what changes from
// token to token it reads in the device's memory. A small model's step is some hundred launches, which take the host longer than the
// device.
//
// A recording holds for the addresses of a cache's block tables, and for as many slots as each head had or some more, as many in all heads
// of a layer: of what grows by a slot a token, and of what loses one for each. Whatever else changes the cache (another conversation, a
// table that has become too small) makes it invalid, and after a step of the ordinary kind the next one is recorded anew. Used by
// TransformerDecoder. Engine thread, c10::InferenceMode. Errors: kDeviceFailed; kOutOfMemory from the cache.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/per_layer.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/device_probabilities.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class CapturedStep {
 public:
  // What a step reads of its token, on the device.
  struct Token {
    at::Tensor id;        // int64 [1]
    at::Tensor position;  // int64 [1, 1]
  };
  struct Shown {
    at::Tensor logits;                               // fp32 [vocabulary]
    std::vector<at::Tensor> attention;               // of each layer, as DecodeRow::output
    std::vector<DeviceProbabilities> probabilities;  // likewise, if they are wanted
  };
  // Reads the token and the layers' slots, which are those without the token, and nothing else that changes; waits for nothing.
  using Body = std::function<Shown(const Token&, const PerLayer<DeviceSlots>&, bool probabilities)>;

  CapturedStep(Body body, std::int64_t layers, at::Device device);
  ~CapturedStep();
  CapturedStep(const CapturedStep&) = delete;
  CapturedStep& operator=(const CapturedStep&) = delete;

  // What a token's step shows, valid until the next one but for the logits; the token is in the cache then. Nothing where this step is to
  // go the ordinary way. That is the first step of an answer: one alone is not worth recording.
  std::optional<Shown> run(const NextToken& token, KvCache& cache, bool probabilities);

 private:
  struct Capture;
  bool follows(const NextToken& token, const KvCache& cache);
  void capture(const KvCache& cache, bool probabilities);
  std::optional<std::vector<std::int64_t>> further_slots(const KvCache& cache, bool probabilities) const;

  Body body_;
  at::Tensor inputs_;  // int64 on the device: id, position, and of each layer the slots that a head has more than when it was recorded
  std::unique_ptr<Capture> capture_;
  const KvShape* last_cache_ = nullptr;   // whose shape it is tells caches apart; not read
  std::int32_t last_original_ = -1;       // of the token before
  std::vector<std::int64_t> last_slots_;  // of every head, when the step before began
  bool impossible_ = false;               // this device or model cannot be recorded
};

}  // namespace winnow
