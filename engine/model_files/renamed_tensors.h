// Tensors of a GGUF file under other names: those of the Hugging Face folder that it was made of.
//
// Made by gguf_model.h and gguf_projector.h, which know the names. Reads and views are the file's own. Errors: those of gguf_file.h. No
// torch. Threads: const, may be used by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "engine/weights/gguf_file.h"

namespace winnow {

class RenamedTensors final : public TensorFile {
 public:
  RenamedTensors(std::shared_ptr<const GgufFile> file, Tensors tensors) : file_(std::move(file)) { tensors_ = std::move(tensors); }

  const std::string& path() const noexcept override { return file_->path(); }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override {
    file_->read(tensor, offset, target);
  }
  std::span<const std::byte> view(const StoredTensor& tensor) const override { return file_->view(tensor); }

 private:
  std::shared_ptr<const GgufFile> file_;
};

}  // namespace winnow
