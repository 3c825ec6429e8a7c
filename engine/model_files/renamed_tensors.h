// Tensors of a file under other names: those that a Hugging Face folder has for them; and a rule of the tables that rename.
//
// Made by gguf_model.h, gguf_projector.h and llava_repository.h, which know the names. Reads and views are the file's own, and so are
// errors. No torch. Threads: const, may be used by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/weights/tensor_file.h"

namespace winnow {

class RenamedTensors final : public TensorFile {
 public:
  RenamedTensors(std::shared_ptr<const TensorFile> file, Tensors tensors) : file_(std::move(file)) { tensors_ = std::move(tensors); }

  const std::string& path() const noexcept override { return file_->path(); }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override {
    file_->read(tensor, offset, target);
  }
  bool changed() const noexcept override { return file_->changed(); }
  std::span<const std::byte> view(const StoredTensor& tensor) const override { return file_->view(tensor); }

 private:
  std::shared_ptr<const TensorFile> file_;
};

// One rule that renames a tensor or a key.

// "a" stands for "a.weight" and "a.bias", too.
struct NameRule {
  std::string_view stored;
  std::string_view canonical;
};

}  // namespace winnow
