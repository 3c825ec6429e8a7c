// One GGUF file, and the files of a model that is split into several.
//
// Used by engine/model_files. The header is read once with every check of gguf_header.h; after that a tensor is read as any TensorFile's
// (read(), safe against files that become shorter) or looked at where it lies (view()). Shapes are outermost first: GGUF's dimensions
// reversed. Errors: Exception; kDamagedFile, kLimitExceeded, kUnsupportedFormat, kOutOfMemory, those of RegularFile, and kModelFileMissing
// for a part of a split model that is not beside the others. No torch. Threads: const, may be used by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/base/file_bytes.h"
#include "engine/base/file_mapping.h"
#include "engine/weights/gguf_metadata.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

class GgufFile : public TensorFile {
 public:
  explicit GgufFile(const std::string& path) : GgufFile(RegularFile(path)) {}
  explicit GgufFile(RegularFile file);

  const std::string& path() const noexcept override { return file_.path(); }
  const GgufMetadata& metadata() const noexcept { return metadata_; }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override;

  bool changed() const noexcept override { return mapping_.lost() || file_.changed(); }

  // All bytes of a tensor, aligned to 8 bytes at least, as long as this object lives. kDamagedFile if the file is shorter by now. Whoever
  // keeps the span asks changed() before it believes what was computed from it (engine/base/file_mapping.h).
  std::span<const std::byte> view(const StoredTensor& tensor) const override;

 private:
  RegularFile file_;
  GgufMetadata metadata_;
  FileMapping mapping_;
};

// Errors: those of reading.
bool begins_as_gguf(const RegularFile& file);

struct GgufFiles {
  std::shared_ptr<const GgufFile> first;  // whose metadata are the model's
  TensorFiles tensors;                    // of all parts, in order; names are unique among them
};

// path: the file, or any part of a split model (<name>-00001-of-00003.gguf), whose other parts lie beside it.
GgufFiles open_gguf_files(const std::string& path);

}  // namespace winnow
