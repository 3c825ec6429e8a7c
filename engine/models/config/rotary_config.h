// RoPE scaling of a configuration: rope_parameters (transformers 5), or rope_theta and rope_scaling (transformers 4).
//
// Read by decoder_config.h. Kinds as in transformers' modeling_rope_utils: default, linear, dynamic, yarn, llama3, longrope. `dynamic` and
// `longrope` depend on the sequence length, which cached keys cannot follow. Their context therefore ends where they would change:
// `dynamic` at max_position_embeddings (unscaled), `longrope` at original_max_position_embeddings (short factors). Up to there
// transformers agrees to the bit. `linear` extends the context to max_sequence_length if that is more, `yarn` to the original length times
// the factor. `mrope` is the default kind with sections, for the classes that know it. Errors: as config_fields.h; other kinds are refused
// by name. No torch. Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/kv_cache/rotary_scheme.h"

namespace winnow {

inline constexpr std::int64_t kMaxPositions = 16'777'216;

struct RotaryConfig {
  RotaryScheme scheme;
  std::int64_t max_positions = 0;  // the scheme is valid below
};

// Defaults of the configuration's class.
struct RotaryDefaults {
  double theta = 10'000.0;
  bool sections = false;  // multi-axis positions, split by mrope_section
  double rotated = 1.0;   // share of a head that is rotated, where the class knows partial_rotary_factor; 1: it does not
};

RotaryConfig read_rotary(const JsonObject& text, std::int64_t head_dim, std::int64_t max_positions, const RotaryDefaults& defaults = {});
// The same for files that call the object `rope` differently, or have none; its rope_theta takes precedence over the defaults'.
RotaryConfig read_rotary_of(const JsonObject& text, const std::optional<JsonObject>& rope, std::int64_t head_dim,
                            std::int64_t max_positions, const RotaryDefaults& defaults);

// How many positions a model reads whose file says max_positions; also for whoever reads nothing else of it.
std::int64_t scaled_positions(const JsonObject& text, std::int64_t max_positions);

// RotaryScheme::frequency_axis from mrope_section: the first frequencies follow time, the next height, the last width. transformers splits
// both halves of a head that way, and the halves of a frequency have the same angle.
std::vector<std::int64_t> read_rotary_sections(const JsonObject& text, std::int64_t head_dim);

// Elements of a head that positions rotate.
std::int64_t rotated_elements(const RotaryScheme& scheme, std::int64_t head_dim);

// Interleaved axes, as in transformers' Qwen3-VL regardless of mrope_interleaved: time, height, width, time, ... while a section lasts,
// then time. rotated: elements of a head that are rotated. Default sections: 24, 20, 20 of 128, and 11, 11, 10 of 64.
std::vector<std::int64_t> read_alternating_sections(const JsonObject& text, std::int64_t rotated);

}  // namespace winnow
