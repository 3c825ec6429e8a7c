// The metadata of an mmproj file about its vision encoder, checked.
//
// Used by the kinds of projectors (gguf_projector_kinds.h). Errors: Exception of gguf_metadata.h, naming the key. No torch. Threads: const.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/weights/gguf_file.h"

namespace winnow {

// Keys without "clip.vision." in front. Borrows the file.
class ProjectorFacts {
 public:
  explicit ProjectorFacts(const GgufFile& file) : file_(&file) {}

  bool has(const char* key) const;
  std::int64_t integer(const char* key) const;
  std::int64_t integer(const char* key, std::int64_t fallback) const;
  double real(const char* key, double fallback) const;
  std::vector<std::int64_t> integers(const char* key) const;
  std::vector<float> three_reals(const char* key) const;

  // By its whole name.
  bool has_tensor(const char* name) const { return file_->tensors().contains(name); }
  // Outermost first; empty: there is no such tensor.
  std::vector<std::int64_t> shape(const char* name) const;
  // The activation of the tower's MLPs, as in config.json: "gelu", "silu" or "quick_gelu".
  const char* activation() const;

  // Early converters named the two products of a block the wrong way round; their shapes tell.
  bool products_are_swapped() const;
  // Of a block's first product: metadata of early converters say nothing of it, or the text model's width.
  std::int64_t inner_size() const;

 private:
  const GgufFile* file_;
};

}  // namespace winnow
