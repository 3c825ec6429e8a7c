// One rule that renames a tensor or a key. Used by the tables of gguf_tensor_names.h, gguf_projector_kinds.h and gguf_inner_vision.h.
// Threads: plain values.
#pragma once

#include <string_view>

namespace winnow {

// "a" stands for "a.weight" and "a.bias", too.
struct NameRule {
  std::string_view stored;
  std::string_view canonical;
};

}  // namespace winnow
