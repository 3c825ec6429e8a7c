// The text architectures of GGUF files that are read, in one table, and the keys of a file that is of one of them.
//
// Used by gguf_config.h and gguf_tensor_names.h. Errors: Exception; kUnsupportedModel naming an architecture that is not read, else those
// of gguf_metadata.h. No torch. Threads: const.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/weights/gguf_metadata.h"

namespace winnow {

struct GgufArchitecture {
  const char* name;        // general.architecture
  const char* class_name;  // config.json: architectures[0]
  const char* model_type;
  // Its q and k are rotated in adjacent pairs, and their rows stored in that order.
  bool interleaved = false;
  // Layers' norms have other names, and with the third other values.
  enum class Gemma : int { kNone, kThird, kFourth } gemma = Gemma::kNone;
  // Layers without slots between those that attend, and norms stored as Gemma's.
  enum class States : int { kNone, kByKeyHead, kInTurn } states = States::kNone;  // and the order of value heads: DeltaSizes::in_turn
  bool convolves = false;                                                         // short convolutions between layers that attend
  // A part of a head rotates; norms behind attention and MLP, or experts.
  enum class Glm : int { kNone, kDense, kExperts } glm = Glm::kNone;
};

// Values of general.architecture that can be read.
std::vector<std::string> known_gguf_architectures();

// Metadata of one architecture: keys without its name in front. Borrows them.
class GgufKeys {
 public:
  static constexpr std::int64_t kMostLayers = 4096;  // of a list of their numbers

  explicit GgufKeys(const GgufMetadata& metadata);

  const GgufArchitecture& architecture() const { return *architecture_; }
  bool keeps_states() const { return architecture_->states != GgufArchitecture::States::kNone; }
  bool convolves() const { return architecture_->convolves; }
  bool of_glm() const { return architecture_->glm != GgufArchitecture::Glm::kNone; }
  bool is(GgufArchitecture::Glm glm) const { return architecture_->glm == glm; }
  bool is(GgufArchitecture::Gemma gemma) const { return architecture_->gemma == gemma; }
  bool has(const char* name) const { return metadata_.has(key(name)); }
  std::int64_t integer(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t fallback) const;
  double real(const char* name, double fallback) const;
  bool is_list(const char* name) const { return metadata_.is_list(key(name)); }
  std::vector<std::int64_t> integers(const char* name) const { return metadata_.integers(key(name)); }
  // A number that stands for all layers, or a list of theirs.
  std::vector<std::int64_t> of_layers(const char* name, std::int64_t layers) const;
  std::int64_t padding_token() const;
  bool boolean(const char* name, bool fallback) const { return metadata_.boolean(key(name), fallback); }
  std::string string(const char* name, const char* fallback) const { return metadata_.string(key(name), fallback); }
  [[noreturn]] void refuse(const std::string& reason) const;

  // Layers, without those for guessing several tokens, which stand behind the others and are not read.
  std::int64_t layers() const;

 private:
  std::string key(const char* name) const { return std::string(architecture_->name) + "." + name; }

  const GgufMetadata& metadata_;
  const GgufArchitecture* architecture_ = nullptr;
};

}  // namespace winnow
