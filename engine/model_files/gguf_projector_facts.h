// A GGUF file's facts about its vision encoder, checked: metadata and tensors, under the names of an mmproj file.
//
// Used by the kinds of projectors (gguf_projector_kinds.h). A model's own file with a vision encoder inside is told as an mmproj
// (gguf_inner_vision.h). Errors: Exception of gguf_metadata.h, naming the file's own key. No torch. Threads: const.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/weights/gguf_file.h"

namespace winnow {

struct InnerVision;

// Keys without "clip.vision." in front. Borrows the file.
class ProjectorFacts {
 public:
  // inside: how this model's own file says it; null: the file is an mmproj.
  explicit ProjectorFacts(const GgufFile& file, const InnerVision* inside = nullptr);

  bool has(const char* key) const;
  std::int64_t integer(const char* key) const;
  std::int64_t integer(const char* key, std::int64_t fallback) const;
  double real(const char* key, double fallback) const;      // at most one
  double positive(const char* key, double fallback) const;  // of any size
  std::vector<std::int64_t> integers(const char* key) const;
  std::vector<float> three_reals(const char* key) const;

  const TensorFile::Tensors& tensors() const { return tensors_; }
  // By its whole name.
  bool has_tensor(const char* name) const { return tensors_.contains(name); }
  // Outermost first; empty: there is no such tensor.
  std::vector<std::int64_t> shape(const char* name) const;
  // The rows of a matrix, which must be there.
  std::int64_t rows(const char* name) const;
  // The activation of the tower's MLPs, as in config.json: "gelu", "silu" or "quick_gelu". A model's own file leaves it to its reader,
  // which knows SiLU where there is a gate.
  const char* activation() const;

  // Early converters named the two products of a block the wrong way round; their shapes tell.
  bool products_are_swapped() const;
  // The width of a block's first product: metadata of early converters say nothing of it, or the text model's width.
  std::int64_t inner_size() const;

 private:
  std::string full(const char* key) const;

  const GgufFile* file_;
  const InnerVision* inside_;
  TensorFile::Tensors tensors_;
};

}  // namespace winnow
