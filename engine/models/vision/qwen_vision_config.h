// The vision transformer of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and GLM-4V as `vision_config` describes it, checked.
//
// Read by the families' configurations, each with the keys and names of its own; followed by qwen_vl_tower.h. Every field has a range.
// Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedModel with "<file>: <key.path>" as subject. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/layers/activation.h"
#include "engine/models/vision/patch_grid.h"
#include "engine/weights/weight_names.h"

namespace winnow {

// Names of a Qwen2-VL's tensors: `model.` the language model, `visual.` the tower, `lm_head.`. That is how transformers 4 wrote them, and
// canonical here; 5 has `model.language_model.` and `model.visual.`.

std::span<const WeightNameRule> qwen_vl_weight_name_rules();

// In which order the cells of a picture go through Qwen2.5-VL's tower, so that those of a window lie together. Attention does not mind the
// order, and the tower puts the cells back.

struct WindowGroup {
  std::int64_t first = 0;    // cell of the order
  std::int64_t windows = 0;  // one after the other
  std::int64_t cells = 0;    // of each

  friend bool operator==(const WindowGroup&, const WindowGroup&) = default;
};

struct WindowOrder {
  std::vector<std::int64_t> cells;  // of the picture, numbered row by row
  std::vector<WindowGroup> groups;
};

// side: of a window, in cells.
WindowOrder window_order(const CellGrid& grid, std::int64_t side);

// Windows, which Qwen2.5-VL's tower has and Qwen2-VL's has not, beside RMS norms and gated blocks.
struct WindowConfig {
  std::int64_t side_cells = 0;               // of a window within which attention stays
  std::vector<std::int64_t> whole_layers{};  // layers where it does not
};

// Additions of Qwen3-VL: a position table, a patch bias, and deepstack features of earlier layers.
struct DeepstackConfig {
  std::int64_t table_side = 0;       // of the position table, which is interpolated over the picture
  std::vector<std::int64_t> layers;  // after which features are taken, ascending
};

// Additions of GLM-4V, beside RMS norms and gated blocks: norms of the patches and of the last layer, a position table, and cells made of
// patches by a convolution and a merger of its own. Its products have no biases, but for the convolutions and, if qkv_bias, q, k and v.
struct DownsampleConfig {
  std::int64_t table_side = 0;   // of the position table, which is interpolated bicubically over the picture
  std::int64_t merger_size = 0;  // inner size of the merger's MLP
  bool qkv_bias = false;
};

// How the tower's tensors are called.
struct QwenVisionNames {
  std::string_view first = "mlp.fc1";  // of a plain block
  std::string_view second = "mlp.fc2";
  std::string_view merger_norm = "ln_q";
  std::string_view merger_first = "mlp.0";
  std::string_view merger_second = "mlp.2";
};

struct QwenVisionConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;  // a multiple of four: half is rotated by row, half by column
  std::int64_t out_size = 0;  // of a token; the decoder's hidden size
  PatchGeometry patches;
  Activation activation = Activation::kQuickGelu;
  std::optional<WindowConfig> windows;           // of Qwen2.5-VL
  std::optional<DeepstackConfig> deepstack;      // of Qwen3-VL
  std::optional<DownsampleConfig> downsample{};  // of GLM-4V
  double norm_eps = 1e-6;
  double theta = 10'000.0;  // base of rotary positions
  QwenVisionNames names{};

  bool gated() const { return windows.has_value() || downsample.has_value(); }  // RMS norms and gated blocks

  std::int64_t deepstack_layers() const { return deepstack ? static_cast<std::int64_t>(deepstack->layers.size()) : 0; }
};

// Under which keys a family says what all of them have.
struct QwenVisionKeys {
  const char* width = "hidden_size";
  const char* out = "out_hidden_size";
  const char* activation = "silu";  // where the file names none
};

// All except intermediate_size, windows, deepstack and downsample.
QwenVisionConfig read_qwen_vision(const JsonObject& vision, const QwenVisionKeys& keys);

}  // namespace winnow
