// A decode step captured once as a CUDA graph and replayed for the tokens that follow. What changes from token to token is read from device
// memory. A small model's step is some hundred kernel launches, which cost the host more time than the device.
//
// A captured step is valid for one cache's block tables while all heads of a layer have grown by the same number of slots since the
// capture. It covers caches that grow by a slot per token and caches that evict one slot per token. Any other change of the cache (another
// conversation, a block table that was reallocated) invalidates it: one ordinary step runs, then the next is captured anew. Used by
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
  // A step's input, on the device.
  struct Token {
    at::Tensor id;        // int64 [1]
    at::Tensor position;  // int64 [1, 1]
  };
  struct Shown {
    at::Tensor logits;                               // fp32 [vocabulary]
    std::vector<at::Tensor> attention;               // of each layer, as DecodeRow::output
    std::vector<DeviceProbabilities> probabilities;  // of each layer, if requested
  };
  // Must read only the token and the layers' slots (those before the token), and must not synchronise.
  using Body = std::function<Shown(const Token&, const PerLayer<DeviceSlots>&, bool probabilities)>;

  CapturedStep(Body body, std::int64_t layers, at::Device device);
  ~CapturedStep();
  CapturedStep(const CapturedStep&) = delete;
  CapturedStep& operator=(const CapturedStep&) = delete;

  // Runs the step and appends the token to the cache. All but the logits is valid until the next step. Returns nullopt if the step has to
  // run the ordinary way, as the first of each answer does: a single step is not worth a capture.
  std::optional<Shown> run(const NextToken& token, KvCache& cache, bool probabilities);

 private:
  struct Capture;
  bool follows(const NextToken& token, const KvCache& cache);
  void capture(const KvCache& cache, bool probabilities);
  std::optional<std::vector<std::int64_t>> further_slots(const KvCache& cache, bool probabilities) const;

  Body body_;
  at::Tensor inputs_;  // int64 on the device: id, position, and per layer the slots that each head has gained since the capture
  std::unique_ptr<Capture> capture_;
  const KvShape* last_cache_ = nullptr;   // only its address is used, to tell caches apart
  std::int32_t last_original_ = -1;       // of the token before
  std::vector<std::int64_t> last_slots_;  // of every head, when the step before began
  bool impossible_ = false;               // a capture has failed on this device or model
};

}  // namespace winnow
