// A decode step on a GPU: launched kernel by kernel, or captured once as a CUDA graph and replayed for the tokens that follow. What changes
// from token to token is then read from device memory. A small model's step is some hundred kernel launches, which cost the host more time
// than the device.
//
// A captured step is valid for one cache's block tables while all heads of a layer have grown by the same number of slots since the
// capture. It covers caches that grow by a slot per token and caches that evict one slot per token. Any other change of the cache (another
// conversation, a block table that was reallocated) invalidates it: one step is launched, then the next is captured anew. So is the first
// step of each answer, for a single step is not worth a capture, and every step over shared slots, which the host looks up. Used by
// TransformerDecoder. Engine thread, c10::InferenceMode. Errors: kDeviceFailed; kOutOfMemory from the cache.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/layer_view.h"
#include "engine/layers/rotary.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class DeviceStep {
 public:
  // A step's input, on the device.
  struct Token {
    at::Tensor id;              // int64 [1]
    at::Tensor position;        // int64 [1, 1]
    std::int32_t original = 0;  // on the host; unknown in a captured step
  };
  // Rotates a layer's queries and keys, qkv [1, H + 2 Hkv, d], appends keys and values to the cache and returns the attention [H, d].
  using Attend = std::function<at::Tensor(LayerId, const at::Tensor& qkv, const RotaryAngles&)>;
  // All of a step but attention: the logits, fp32 [1, vocabulary]. Reads no more of the token, and does not synchronise if it is captured.
  // The cache is for layers without slots; null in a captured step.
  using Body = std::function<at::Tensor(const Token&, KvCache*, const Attend&)>;
  enum class Capture { kNever = 1, kRepeatedSteps = 2 };
  struct Result {
    at::Tensor logits;            // fp32 [1, vocabulary]
    std::vector<DecodeRow> rows;  // of each layer; outputs are valid until the next step
  };

  // scale: of the attention's logits.
  DeviceStep(Body body, double scale, std::int64_t layers, at::Device device, Capture capture);
  ~DeviceStep();
  DeviceStep(const DeviceStep&) = delete;
  DeviceStep& operator=(const DeviceStep&) = delete;

  // Runs the step and appends the token to the cache. With probabilities it waits for the device, once.
  enum class Rows { kOutputs = 1, kProbabilities = 2 };
  Result run(const NextToken& token, KvCache& cache, Rows rows);

 private:
  struct Inputs;
  struct Shown;
  struct Captured;
  static Inputs inputs_of(Token token, const KvCache& cache, Rows rows);
  Shown launch(const Inputs& inputs, KvCache* cache) const;
  bool follows(const NextToken& token, const KvCache& cache);
  void capture(const KvCache& cache, Rows rows);
  std::optional<std::vector<std::int64_t>> further_slots(const KvCache& cache, Rows rows) const;
  std::optional<Shown> replay(const NextToken& token, KvCache& cache, Rows rows);

  Body body_;
  double scale_;
  at::Tensor inputs_;  // int64 on the device: id, position, and per layer the slots that each head has gained since the capture
  Capture capturing_;  // kNever also after a capture has failed on this device or model
  std::unique_ptr<Captured> captured_;
  const KvShape* last_cache_ = nullptr;   // only its address is used, to tell caches apart
  std::int32_t last_original_ = -1;       // of the token before
  std::vector<std::int64_t> last_slots_;  // of every head, when the step before began
};

}  // namespace winnow
