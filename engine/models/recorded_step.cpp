#include "engine/models/recorded_step.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostTokens = 256;  // of a recording: attention is planned for the longest it may meet
constexpr std::size_t kReasonBytes = 512;

}  // namespace

struct RecordedStep::Recording {
  const Body* body = nullptr;
  Token token;
  PerLayer<DeviceSlots> layers;
  std::int64_t tokens = 0;  // since
  at::Tensor logits;
  std::exception_ptr failure;
  void* handle = nullptr;

  ~Recording() {
    if (handle != nullptr) cuda_plugin().forget(handle);
  }

  // Nothing is thrown through the plug-in.
  static int run_body(void* context) {
    auto& self = *static_cast<Recording*>(context);
    try {
      self.logits = (*self.body)(self.token, self.layers);
      return 0;
    } catch (...) {
      self.failure = std::current_exception();
      return 1;
    }
  }
};

RecordedStep::RecordedStep(Body body, at::Device device)
    : body_(std::move(body)), numbers_(at::zeros({3}, at::TensorOptions(device).dtype(at::kLong))) {}

RecordedStep::~RecordedStep() = default;

// Notes what the next step finds if it follows this one.
bool RecordedStep::follows(const KvCache& cache) {
  std::vector<std::int64_t> slots;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) slots.push_back(cache.slots(layer, head));
  }
  const bool follows = slots == expected_;
  for (std::int64_t& count : slots) ++count;
  expected_ = std::move(slots);
  return follows;
}

// Of a step that follows those since the recording: its heads have the slots that were counted. Asks for every layer's table, which brings
// all of them up to date.
bool RecordedStep::holds_for(const KvCache& cache) const {
  if (recording_ == nullptr || recording_->tokens > recording_->layers.front().most_further) return false;
  bool holds = true;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    const DeviceBlocks& recorded = recording_->layers[layer].blocks;
    const DeviceBlocks blocks = cache.device_blocks(layer);
    holds = holds && blocks.key_blocks == recorded.key_blocks && blocks.stride == recorded.stride;
  }
  return holds;
}

// The cache has room for the next token.
void RecordedStep::record(KvCache& cache) {
  recording_.reset();
  auto recording = std::make_unique<Recording>();
  recording->body = &body_;
  recording->token = {numbers_.narrow(0, 0, 1), numbers_.narrow(0, 1, 1).unsqueeze(0)};
  std::int64_t room = kMostTokens;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    DeviceSlots own;
    own.blocks = cache.device_blocks(layer);
    own.further = reinterpret_cast<const std::int32_t*>(numbers_.const_data_ptr<std::int64_t>() + 2);  // its low half
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
      own.of_heads.push_back(static_cast<std::int32_t>(cache.slots(layer, head)));
      room = std::min(room, own.blocks.stride * KvCache::kBlockSlots - cache.slots(layer, head) - 1);
    }
    recording->layers.push_back(std::move(own));
  }
  for (DeviceSlots& layer : recording->layers) layer.most_further = room;
  char reason[kReasonBytes] = {};
  if (cuda_plugin().record(&Recording::run_body, recording.get(), &recording->handle, reason, sizeof reason) != 0) {
    impossible_ = true;  // what is wrong, the step of the ordinary kind will say
    return;
  }
  recording_ = std::move(recording);
}

std::optional<at::Tensor> RecordedStep::run(const NextToken& token, KvCache& cache) {
  if (impossible_) return std::nullopt;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    const std::int64_t window = cache.shape().window(layer);
    // A full window loses a slot with every token.
    if (cache.has_shared_entries(layer) || (window > 0 && token.original >= window)) return std::nullopt;
  }
  if (!follows(cache)) {
    recording_.reset();
    return std::nullopt;
  }
  cache.make_room();
  if (!holds_for(cache)) {
    record(cache);
    if (recording_ == nullptr) return std::nullopt;
  }
  numbers_.copy_(at::tensor({token.id, token.position, recording_->tokens}), /*non_blocking=*/true);
  if (cuda_plugin().replay(recording_->handle) != 0) {
    if (recording_->failure) std::rethrow_exception(recording_->failure);
    require_launched(static_cast<int>(kernels::LaunchStatus::kDeviceError), "a decode step");
  }
  ++recording_->tokens;
  cache.count_appended(token.original);
  return recording_->logits.clone();  // the next replay writes there
}

}  // namespace winnow
