#include "engine/models/captured_step.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostTokens = 256;  // per capture: attention is planned for the longest cache that it may see
constexpr std::int64_t kTokenInputs = 2;   // id and position
constexpr std::size_t kReasonBytes = 512;

}  // namespace

struct CapturedStep::Capture {
  const Body* body = nullptr;
  Token token;
  PerLayer<DeviceSlots> layers;
  bool probabilities = false;
  Shown shown;
  std::exception_ptr failure;
  void* handle = nullptr;

  ~Capture() {
    if (handle != nullptr) cuda_plugin().forget(handle);
  }

  // Nothing is thrown through the plug-in.
  static int run_body(void* context) {
    auto& self = *static_cast<Capture*>(context);
    try {
      self.shown = (*self.body)(self.token, self.layers, self.probabilities);
      return 0;
    } catch (...) {
      self.failure = std::current_exception();
      return 1;
    }
  }
};

CapturedStep::CapturedStep(Body body, std::int64_t layers, at::Device device)
    : body_(std::move(body)), inputs_(at::zeros({kTokenInputs + layers}, at::TensorOptions(device).dtype(at::kLong))) {}

CapturedStep::~CapturedStep() = default;

// Whether the previous step was of this cache and the previous token, and every head has as many slots as before that step, or one more.
// Stores the state for the next call.
bool CapturedStep::follows(const NextToken& token, const KvCache& cache) {
  std::vector<std::int64_t> slots;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) slots.push_back(cache.slots(layer, head));
  }
  const bool follows =
      std::ranges::equal(slots, last_slots_, [](std::int64_t now, std::int64_t last) { return now - last == 0 || now - last == 1; });
  last_slots_ = std::move(slots);
  const bool same_cache = std::exchange(last_cache_, &cache.shape()) == &cache.shape();
  const bool next_token = std::exchange(last_original_, token.original) + 1 == token.original;
  return follows && same_cache && next_token;
}

// Slots that the heads of each layer have gained since the capture; nullopt if the capture is invalid. Requests every layer's block table,
// which brings all of them up to date.
std::optional<std::vector<std::int64_t>> CapturedStep::further_slots(const KvCache& cache, bool probabilities) const {
  if (capture_ == nullptr || capture_->probabilities != probabilities || capture_->layers.layers() != cache.shape().layers)
    return std::nullopt;
  std::vector<std::int64_t> further;
  bool holds = true;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    const DeviceSlots& captured = capture_->layers[layer];
    const DeviceBlocks blocks = cache.device_blocks(layer);
    const std::int64_t more = cache.slots(layer, KvHead(0)) - captured.of_heads.front();
    holds = holds && blocks.key_blocks == captured.blocks.key_blocks && blocks.stride == captured.blocks.stride && more >= 0 &&
            more <= captured.most_further;
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head)
      holds = holds && cache.slots(layer, head) - captured.of_heads[static_cast<std::size_t>(head)] == more;
    further.push_back(more);
  }
  if (!holds) return std::nullopt;
  return further;
}

// The cache has room for the next token.
void CapturedStep::capture(const KvCache& cache, bool probabilities) {
  capture_.reset();
  auto made = std::make_unique<Capture>();
  made->body = &body_;
  made->token = {inputs_.narrow(0, 0, 1), inputs_.narrow(0, 1, 1).unsqueeze(0)};
  made->probabilities = probabilities;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    DeviceSlots own;
    own.blocks = cache.device_blocks(layer);
    own.further = reinterpret_cast<const std::int32_t*>(inputs_.const_data_ptr<std::int64_t>() + kTokenInputs + layer);  // its low half
    own.most_further = kMostTokens;
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
      own.of_heads.push_back(static_cast<std::int32_t>(cache.slots(layer, head)));
      own.most_further = std::min(own.most_further, own.blocks.stride * KvCache::kBlockSlots - cache.slots(layer, head) - 1);
    }
    made->layers.push_back(std::move(own));
  }
  char reason[kReasonBytes] = {};
  if (cuda_plugin().record(&Capture::run_body, made.get(), &made->handle, reason, sizeof reason) != 0) {
    impossible_ = true;  // what is wrong, the step of the ordinary kind will say
    return;
  }
  capture_ = std::move(made);
}

std::optional<CapturedStep::Shown> CapturedStep::run(const NextToken& token, KvCache& cache, bool probabilities) {
  if (impossible_) return std::nullopt;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    if (cache.has_shared_entries(layer)) return std::nullopt;  // the host looks them up
  }
  if (!follows(token, cache)) {
    capture_.reset();
    return std::nullopt;
  }
  cache.make_room();
  std::optional<std::vector<std::int64_t>> further = further_slots(cache, probabilities);
  if (!further) {
    capture(cache, probabilities);
    if (capture_ == nullptr) return std::nullopt;
    further.emplace(static_cast<std::size_t>(cache.shape().layers), 0);
  }
  std::vector<std::int64_t> inputs = {token.id, token.position};
  inputs.insert(inputs.end(), further->begin(), further->end());
  inputs_.copy_(at::tensor(inputs), /*non_blocking=*/true);
  if (cuda_plugin().replay(capture_->handle) != 0) {
    if (capture_->failure) std::rethrow_exception(capture_->failure);
    require_launched(static_cast<int>(kernels::LaunchStatus::kDeviceError), "a decode step");
  }
  cache.count_appended(token.original);
  Shown shown = capture_->shown;
  shown.logits = shown.logits.clone();  // the next replay writes there
  for (std::size_t layer = 0; layer < shown.probabilities.size(); ++layer) {
    for (std::int32_t& count : shown.probabilities[layer].counts) count += static_cast<std::int32_t>((*further)[layer]);
  }
  return shown;
}

}  // namespace winnow
