#include "engine/model_files/gguf_projector_facts.h"

#include "engine/base/error.h"
#include "engine/model_files/gguf_inner_vision.h"

namespace winnow {
namespace {

constexpr std::int64_t kFactMany = std::int64_t{1} << 40;  // the families have the real limits

}  // namespace

ProjectorFacts::ProjectorFacts(const GgufFile& file, const InnerVision* inside) : file_(&file), inside_(inside) {
  tensors_ = inside == nullptr ? file.tensors() : tensors_as_in_an_mmproj(*inside, file);
}

std::string ProjectorFacts::full(const char* key) const {
  return inside_ == nullptr ? std::string("clip.vision.") + key : key_inside(*inside_, key);
}

bool ProjectorFacts::has(const char* key) const { return file_->metadata().has(full(key)); }

std::int64_t ProjectorFacts::integer(const char* key) const { return file_->metadata().integer(full(key), 0, kFactMany); }

std::int64_t ProjectorFacts::integer(const char* key, std::int64_t fallback) const {
  return file_->metadata().integer(full(key), 0, kFactMany, fallback);
}

double ProjectorFacts::real(const char* key, double fallback) const { return file_->metadata().real(full(key), 0.0, 1.0, fallback); }

double ProjectorFacts::positive(const char* key, double fallback) const {
  constexpr double kLarge = 1e18;
  return file_->metadata().real(full(key), 0.0, kLarge, fallback);
}

std::vector<std::int64_t> ProjectorFacts::integers(const char* key) const { return file_->metadata().integers(full(key)); }

std::vector<float> ProjectorFacts::three_reals(const char* key) const {
  const std::string name = full(key);
  const bool says = inside_ == nullptr || (has(key) && file_->metadata().length(name) > 0);
  if (!says) return published_scaling(*inside_, key);
  if (file_->metadata().length(name) != 3) file_->metadata().refuse(ErrorCode::kDamagedFile, name, "pictures have three colours");
  return file_->metadata().reals(name);
}

std::vector<std::int64_t> ProjectorFacts::shape(const char* name) const {
  const auto found = tensors_.find(std::string_view(name));
  return found == tensors_.end() ? std::vector<std::int64_t>() : found->second.shape;
}

std::int64_t ProjectorFacts::rows(const char* name) const {
  const auto found = tensors_.find(std::string_view(name));
  if (found == tensors_.end()) throw Exception(ErrorCode::kDamagedFile, file_->path() + ": " + name, "the vision encoder lacks it");
  if (found->second.shape.size() != 2) throw Exception(ErrorCode::kDamagedFile, file_->path() + ": " + name, "it is no matrix");
  return found->second.shape[0];
}

const char* ProjectorFacts::activation() const {
  if (file_->metadata().boolean("clip.use_gelu", false)) return "gelu";
  return inside_ != nullptr || file_->metadata().boolean("clip.use_silu", false) ? "silu" : "quick_gelu";
}

bool ProjectorFacts::products_are_swapped() const {
  const auto down = tensors_.find(std::string_view("v.blk.0.ffn_down.weight"));
  const auto up = tensors_.find(std::string_view("v.blk.0.ffn_up.weight"));
  const std::int64_t hidden = integer("embedding_length");
  return down != tensors_.end() && up != tensors_.end() && down->second.shape.size() == 2 && down->second.shape[1] == hidden &&
         up->second.shape.size() == 2 && up->second.shape[0] == hidden && up->second.shape[1] != hidden;
}

std::int64_t ProjectorFacts::inner_size() const {
  return rows(products_are_swapped() ? "v.blk.0.ffn_down.weight" : "v.blk.0.ffn_up.weight");
}

}  // namespace winnow
