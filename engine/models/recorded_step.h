// A decode step of a GPU that is launched as a whole: recorded once (a CUDA graph), it serves the tokens that follow, for what changes from
// token to token it reads in the device's memory. A small model's step is some hundred launches, which take the host longer than the
// device.
//
// A recording holds for the addresses of a cache's block tables and for heads that have grown by one slot a token since; whatever else
// changes the cache (an eviction, another conversation, a table that has become too small) makes it invalid, and after a step of the
// ordinary kind the next one is recorded anew. Used by TransformerDecoder. Engine thread, c10::InferenceMode. Errors: kDeviceFailed;
// kOutOfMemory from the cache.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/per_layer.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

class RecordedStep {
 public:
  // What a step reads of its token, on the device.
  struct Token {
    at::Tensor id;        // int64 [1]
    at::Tensor position;  // int64 [1, 1]
  };
  // Returns the logits. Reads the token and the layers' slots, which are those without the token, and nothing else that changes; waits for
  // nothing.
  using Body = std::function<at::Tensor(const Token&, const PerLayer<DeviceSlots>&)>;

  RecordedStep(Body body, at::Device device);
  ~RecordedStep();
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  // The logits fp32 [vocabulary] of a token, which is in the cache then; or nothing where this step is to go the ordinary way. That is the
  // first step of an answer: one alone is not worth recording.
  std::optional<at::Tensor> run(const NextToken& token, KvCache& cache);

 private:
  struct Recording;
  bool follows(const KvCache& cache);
  void record(KvCache& cache);
  bool holds_for(const KvCache& cache) const;

  Body body_;
  at::Tensor numbers_;  // int64 [3] on the device: id, position, slots since the recording
  std::unique_ptr<Recording> recording_;
  std::vector<std::int64_t> expected_;  // slots that the next step finds, if it continues this one
  bool impossible_ = false;             // this device or model cannot be recorded
};

}  // namespace winnow
