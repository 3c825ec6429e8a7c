#include "engine/models/decoder/device_step.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/layers/device_decode_attention.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostTokens = 256;  // per capture: attention is planned for the longest cache that it may see
constexpr std::int64_t kTokenInputs = 2;   // id and position
constexpr std::size_t kReasonBytes = 512;

}  // namespace

struct DeviceStep::Inputs {
  Token token;
  KvShape shape;
  PerLayer<DeviceSlots> layers;  // without the token's slots
  Rows rows = Rows::kOutputs;
};

// The results that a step leaves on the device.
struct DeviceStep::Shown {
  at::Tensor logits;
  std::vector<at::Tensor> attention;               // of each layer
  std::vector<DeviceProbabilities> probabilities;  // of each layer, if requested
};

struct DeviceStep::Captured {
  const DeviceStep* step = nullptr;
  Inputs inputs;
  Shown shown;
  std::exception_ptr failure;
  void* handle = nullptr;

  ~Captured() {
    if (handle != nullptr) cuda_plugin().forget(handle);
  }

  // Nothing is thrown through the plug-in.
  static int launch(void* context) {
    auto& self = *static_cast<Captured*>(context);
    try {
      self.shown = self.step->launch(self.inputs, nullptr);
      return 0;
    } catch (...) {
      self.failure = std::current_exception();
      return 1;
    }
  }
};

DeviceStep::DeviceStep(Body body, double scale, std::int64_t layers, at::Device device, Capture capture)
    : body_(std::move(body)),
      scale_(scale),
      inputs_(at::zeros({kTokenInputs + layers}, at::TensorOptions(device).dtype(at::kLong))),
      capturing_(capture) {}

DeviceStep::~DeviceStep() = default;

DeviceStep::Inputs DeviceStep::inputs_of(Token token, const KvCache& cache, Rows rows) {
  Inputs inputs{std::move(token), cache.shape(), {}, rows};
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) inputs.layers.push_back(device_slots(cache, layer));
  return inputs;
}

// cache: counts the token already; null for a captured step, whose layers have no shared slots.
DeviceStep::Shown DeviceStep::launch(const Inputs& inputs, KvCache* cache) const {
  Shown shown;
  shown.logits = body_(inputs.token, cache, [&](LayerId layer, const at::Tensor& qkv, const RotaryAngles& angles) {
    const at::Tensor query = rotate_append(qkv, angles, inputs.shape, inputs.layers[layer]);
    DeviceProbabilities* const there = inputs.rows == Rows::kProbabilities ? &shown.probabilities.emplace_back() : nullptr;
    if (cache != nullptr && cache->has_shared_entries(layer)) {
      shown.attention.push_back(device_shared_attention(query, *cache, layer, scale_, there));
    } else {
      DeviceSlots seen = inputs.layers[layer];
      for (std::int32_t& count : seen.of_heads) ++count;  // the token's own
      shown.attention.push_back(device_decode_attention(query, inputs.shape, seen, scale_, there));
    }
    return shown.attention.back();
  });
  return shown;
}

// True if the previous step was of this cache and the previous token, and every head has as many slots as before that step, or one more.
// Stores the state for the next call.
bool DeviceStep::follows(const NextToken& token, const KvCache& cache) {
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
std::optional<std::vector<std::int64_t>> DeviceStep::further_slots(const KvCache& cache, Rows rows) const {
  if (captured_ == nullptr || captured_->inputs.rows != rows || captured_->inputs.layers.layers() != cache.shape().layers)
    return std::nullopt;
  std::vector<std::int64_t> further;
  bool holds = true;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    const DeviceSlots& captured = captured_->inputs.layers[layer];
    const DeviceBlocks blocks = DeviceSide::blocks(cache, layer);
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
void DeviceStep::capture(const KvCache& cache, Rows rows) {
  captured_.reset();
  auto made = std::make_unique<Captured>();
  made->step = this;
  made->inputs = inputs_of({inputs_.narrow(0, 0, 1), inputs_.narrow(0, 1, 1).unsqueeze(0)}, cache, rows);
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    DeviceSlots& own = made->inputs.layers[layer];
    own.further = reinterpret_cast<const std::int32_t*>(inputs_.const_data_ptr<std::int64_t>() + kTokenInputs + layer);  // its low half
    own.most_further = std::min(kMostTokens, own.blocks.stride * KvCache::kBlockSlots - std::ranges::max(own.of_heads) - 1);
  }
  char reason[kReasonBytes] = {};
  if (cuda_plugin().record(&Captured::launch, made.get(), &made->handle, reason, sizeof reason) != 0) {
    capturing_ = Capture::kNever;  // what is wrong, the step of the ordinary kind will say
    return;
  }
  captured_ = std::move(made);
}

// Nullopt: the step has to be launched.
std::optional<DeviceStep::Shown> DeviceStep::replay(const NextToken& token, KvCache& cache, Rows rows) {
  if (capturing_ == Capture::kNever) return std::nullopt;
  for (LayerId layer{0}; layer < cache.shape().layers; ++layer) {
    if (cache.has_shared_entries(layer)) return std::nullopt;
  }
  if (!follows(token, cache)) {
    captured_.reset();
    return std::nullopt;
  }
  DeviceSide::make_room(cache);
  std::optional<std::vector<std::int64_t>> further = further_slots(cache, rows);
  if (!further) {
    capture(cache, rows);
    if (captured_ == nullptr) return std::nullopt;
    further.emplace(static_cast<std::size_t>(cache.shape().layers), 0);
  }
  std::vector<std::int64_t> inputs = {token.id, token.position};
  inputs.insert(inputs.end(), further->begin(), further->end());
  inputs_.copy_(at::tensor(inputs), /*non_blocking=*/true);
  if (cuda_plugin().replay(captured_->handle) != 0) {
    if (captured_->failure) std::rethrow_exception(captured_->failure);
    require_launched(static_cast<int>(kernels::LaunchStatus::kDeviceError), "a decode step");
  }
  DeviceSide::count_appended(cache, token.original);
  Shown shown = captured_->shown;
  shown.logits = shown.logits.clone();  // the next replay writes there
  for (std::size_t layer = 0; layer < shown.probabilities.size(); ++layer) {
    for (std::int32_t& count : shown.probabilities[layer].counts) count += static_cast<std::int32_t>((*further)[layer]);
  }
  return shown;
}

DeviceStep::Result DeviceStep::run(const NextToken& token, KvCache& cache, Rows rows) {
  std::optional<Shown> shown = replay(token, cache, rows);
  if (!shown) {
    DeviceSide::make_room(cache);
    const auto number = inputs_.options();  // made where it is used: a copy would wait for the device
    const Inputs inputs =
        inputs_of({at::full({1}, token.id, number), at::full({1, 1}, token.position, number), token.original}, cache, rows);
    DeviceSide::count_appended(cache, token.original);
    shown = launch(inputs, &cache);
  }
  std::vector<std::vector<std::vector<float>>> probabilities = on_host(shown->probabilities);
  probabilities.resize(shown->attention.size());
  Result result{shown->logits, {}};
  for (std::size_t layer = 0; layer < shown->attention.size(); ++layer)
    result.rows.push_back({std::move(probabilities[layer]), shown->attention[layer]});
  return result;
}

}  // namespace winnow
