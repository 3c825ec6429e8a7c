// How a configuration scales rotary positions: rope_parameters (transformers 5), or rope_theta and rope_scaling (transformers 4).
//
// Read by decoder_config.h. Kinds as transformers' modeling_rope_utils: default, linear, dynamic, yarn, llama3, longrope. Two of them
// change with the length of what is read: `dynamic` rotates as if it were not scaled up to max_position_embeddings, `longrope` by its short
// factors up to original_max_position_embeddings. Keys that are cached cannot be rotated anew with every token, so models of these two
// kinds read as many tokens as that, where transformers agrees to the bit. `linear` reads as many as max_sequence_length says, where that
// is more. Errors: as config_fields.h; kinds that are not in the list are refused by name. `mrope` is the default kind with sections, for
// the classes that know it. No torch. Threads: plain values.
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
  std::int64_t max_positions = 0;  // that the scheme holds for
};

// What the class that reads a configuration knows.
struct RotaryDefaults {
  double theta = 10'000.0;
  bool sections = false;  // positions of several axes, told by mrope_section
};

RotaryConfig read_rotary(const JsonObject& text, std::int64_t head_dim, std::int64_t max_positions, const RotaryDefaults& defaults = {});
// The same where `rope`, if there is one, is not called as in most files; its rope_theta goes before the defaults'.
RotaryConfig read_rotary_of(const JsonObject& text, const std::optional<JsonObject>& rope, std::int64_t head_dim,
                            std::int64_t max_positions, const RotaryDefaults& defaults);

// RotaryScheme::frequency_axis by mrope_section: so many frequencies go with time, height and width, one section after the other.
// transformers splits both halves of a head that way, and the halves of a frequency have the same angle.
std::vector<std::int64_t> read_rotary_sections(const JsonObject& text, std::int64_t head_dim);

// The same where the axes alternate, as transformers' Qwen3-VL has it whatever mrope_interleaved says: time, height, width, time, ... as
// long as a section lasts, time from there on. What mrope_section leaves out has the class's default, 24, 20, 20.
std::vector<std::int64_t> read_alternating_sections(const JsonObject& text, std::int64_t head_dim);

}  // namespace winnow
