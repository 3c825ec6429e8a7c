#include "engine/model_files/gguf_projector_facts.h"

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 40;  // the families have the real limits

std::string full(const char* key) { return std::string("clip.vision.") + key; }

}  // namespace

bool ProjectorFacts::has(const char* key) const { return file_->metadata().has(full(key)); }

std::int64_t ProjectorFacts::integer(const char* key) const { return file_->metadata().integer(full(key), 0, kMany); }

std::int64_t ProjectorFacts::integer(const char* key, std::int64_t fallback) const {
  return file_->metadata().integer(full(key), 0, kMany, fallback);
}

double ProjectorFacts::real(const char* key, double fallback) const { return file_->metadata().real(full(key), 0.0, 1.0, fallback); }

std::vector<std::int64_t> ProjectorFacts::integers(const char* key) const { return file_->metadata().integers(full(key)); }

std::vector<float> ProjectorFacts::three_reals(const char* key) const {
  if (file_->metadata().length(full(key)) != 3) file_->metadata().refuse(ErrorCode::kDamagedFile, full(key), "pictures have three colours");
  return file_->metadata().reals(full(key));
}

std::vector<std::int64_t> ProjectorFacts::shape(const char* name) const {
  const auto found = file_->tensors().find(std::string_view(name));
  return found == file_->tensors().end() ? std::vector<std::int64_t>() : found->second.shape;
}

const char* ProjectorFacts::activation() const {
  if (file_->metadata().boolean("clip.use_gelu", false)) return "gelu";
  return file_->metadata().boolean("clip.use_silu", false) ? "silu" : "quick_gelu";
}

bool ProjectorFacts::products_are_swapped() const {
  const TensorFile::Tensors& tensors = file_->tensors();
  const auto down = tensors.find("v.blk.0.ffn_down.weight");
  const auto up = tensors.find("v.blk.0.ffn_up.weight");
  const std::int64_t hidden = integer("embedding_length");
  return down != tensors.end() && up != tensors.end() && down->second.shape.size() == 2 && down->second.shape[1] == hidden &&
         up->second.shape.size() == 2 && up->second.shape[0] == hidden && up->second.shape[1] != hidden;
}

std::int64_t ProjectorFacts::inner_size() const {
  const StoredTensor& first = file_->tensor(products_are_swapped() ? "v.blk.0.ffn_down.weight" : "v.blk.0.ffn_up.weight");
  if (first.shape.size() != 2) throw Exception(ErrorCode::kDamagedFile, file_->path() + ": v.blk.0.ffn_up.weight", "it is no matrix");
  return first.shape[0];
}

}  // namespace winnow
