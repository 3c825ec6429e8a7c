#include "engine/model_files/ctranslate2_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/base/error.h"
#include "engine/model_files/file_cursor.h"
#include "engine/model_files/renamed_tensors.h"
#include "engine/weights/weight_files.h"

namespace winnow {
namespace {

constexpr const char* kWeights = "model.bin";
constexpr std::uint32_t kOldest = 5, kNewest = 6;
constexpr std::string_view kWhisper = "WhisperSpec";
constexpr std::size_t kMostRank = 6;
constexpr std::size_t kMostVariables = 20'000;

// By the numbers of CTranslate2's DataType.
std::optional<StoredType> variable_type(std::uint8_t number) {
  switch (number) {
    case 0: return StoredType::kF32;
    case 2: return StoredType::kI16;
    case 4: return StoredType::kF16;
    case 5: return StoredType::kBF16;
    default: return std::nullopt;
  }
}

// Texts have their length and a NUL around them.
std::string variable_text(FileCursor& cursor) {
  std::string value = cursor.text(cursor.number<std::uint16_t>());
  if (!value.empty()) value.pop_back();
  return value;
}

class Variables final : public TensorFile {
 public:
  explicit Variables(RegularFile file) : file_(std::move(file)) {
    FileCursor cursor(file_);
    const auto version = cursor.number<std::uint32_t>();
    const std::string kind = variable_text(cursor);
    if (version < kOldest || version > kNewest || kind != kWhisper)
      throw Exception(ErrorCode::kUnsupportedModel, path(), "of CTranslate2's models only Whisper's are read, in versions 5 and 6");
    cursor.number<std::uint32_t>();  // of the kind
    const auto count = cursor.number<std::uint32_t>();
    if (count > kMostVariables) throw Exception(ErrorCode::kLimitExceeded, path(), "it has too many tensors");
    for (std::uint32_t i = 0; i < count; ++i) read_variable(cursor);
  }

  const std::string& path() const noexcept override { return file_.path(); }
  bool changed() const noexcept override { return file_.changed(); }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override {
    file_.read_at(tensor.begin + offset, target);
  }

 private:
  void read_variable(FileCursor& cursor) {
    const std::string name = variable_text(cursor);
    StoredTensor tensor;
    const auto rank = cursor.number<std::uint8_t>();
    if (rank > kMostRank) throw Exception(ErrorCode::kDamagedFile, path() + ": " + name, "it has too many dimensions");
    std::uint64_t elements = 1;
    for (std::uint8_t i = 0; i < rank; ++i) {
      tensor.shape.push_back(cursor.number<std::uint32_t>());
      if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(tensor.shape.back()), &elements))
        throw Exception(ErrorCode::kDamagedFile, path() + ": " + name, "its shape is too large");
    }
    const std::optional<StoredType> type = variable_type(cursor.number<std::uint8_t>());
    const auto bytes = cursor.number<std::uint32_t>();
    tensor.begin = cursor.position();
    tensor.end = tensor.begin + bytes;
    cursor.skip(bytes);
    if (!type) {
      if (rank == 0) return;  // a setting that is a byte
      throw Exception(ErrorCode::kUnsupportedModel, path() + ": " + name, "weights in 8 bits of CTranslate2 are not read; take fp16");
    }
    tensor.type = *type;
    if (elements > bytes || elements * stored_block(*type).bytes != bytes)
      throw Exception(ErrorCode::kDamagedFile, path() + ": " + name, "its bytes are not those of its shape");
    tensors_.emplace(name, std::move(tensor));
  }

  RegularFile file_;
};

// Names of variables in transformers, piece by piece; fused matrices have several names.
using Names = std::vector<std::string>;
const std::map<std::string, Names, std::less<>> kModules = {
    {"conv1", {"conv1"}},
    {"conv2", {"conv2"}},
    {"layer_norm", {"layer_norm"}},
    {"position_encodings", {"embed_positions"}},
    {"embeddings", {"embed_tokens"}},
    {"self_attention/layer_norm", {"self_attn_layer_norm"}},
    {"self_attention/linear_0", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {"self_attention/linear_1", {"self_attn.out_proj"}},
    {"attention/layer_norm", {"encoder_attn_layer_norm"}},
    {"attention/linear_0", {"encoder_attn.q_proj"}},
    {"attention/linear_1", {"encoder_attn.k_proj", "encoder_attn.v_proj"}},
    {"attention/linear_2", {"encoder_attn.out_proj"}},
    {"ffn/layer_norm", {"final_layer_norm"}},
    {"ffn/linear_0", {"fc1"}},
    {"ffn/linear_1", {"fc2"}}};

// "decoder/layer_0/ffn/linear_1/weight" and its like, under transformers' names; others are settings.
void add_renamed(const std::string& name, const StoredTensor& tensor, TensorFile::Tensors& into) {
  const std::size_t side = name.find('/');
  const std::size_t last = name.rfind('/');
  if (side == std::string::npos || last <= side) return;
  std::string prefix = "model." + name.substr(0, side) + ".";
  std::string module = name.substr(side + 1, last - side - 1);
  if (module.starts_with("layer_") && !module.starts_with("layer_norm")) {
    const std::size_t slash = module.find('/');
    if (slash == std::string::npos) return;
    prefix += "layers." + module.substr(6, slash - 6) + ".";
    module.erase(0, slash + 1);
  }
  const auto found = kModules.find(module);
  if (found == kModules.end() || tensor.shape.empty()) return;
  const std::string part = name.substr(last + 1);
  const std::string suffix = part == "bias" || part == "beta" ? ".bias" : ".weight";
  const auto parts = static_cast<std::int64_t>(found->second.size());
  if (tensor.shape.front() % parts != 0) throw Exception(ErrorCode::kDamagedFile, name, "a fused matrix has no equal parts");
  StoredTensor piece = tensor;
  piece.shape.front() /= parts;
  const std::uint64_t bytes = tensor.bytes() / static_cast<std::uint64_t>(parts);
  for (const std::string& each : found->second) {
    piece.end = piece.begin + bytes;
    into.emplace(prefix + each + suffix, piece);
    piece.begin = piece.end;
  }
}

}  // namespace

bool holds_ctranslate2(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder + "/" + kWeights, error)) return false;
  const RegularFile file = open_inside(folder, kWeights);
  if (file.size_bytes() < 64) return false;
  FileCursor cursor(file);
  const auto version = cursor.number<std::uint32_t>();
  const auto length = cursor.number<std::uint16_t>();
  return version > 0 && version <= 16 && length > 0 && length < 32;
}

CTranslate2Folder::CTranslate2Folder(std::string folder) : stored_(std::move(folder)) {
  const auto variables = std::make_shared<const Variables>(open_inside(path(), kWeights));
  TensorFile::Tensors renamed;
  for (const auto& [name, tensor] : variables->tensors()) add_renamed(name, tensor, renamed);
  const auto size = [&](const char* name, std::size_t axis) -> std::int64_t {
    const auto found = renamed.find(name);
    return found == renamed.end() || found->second.shape.size() <= axis ? 0 : found->second.shape[axis];
  };
  const auto layers = [&](const std::string& side) {
    std::int64_t count = 0;
    while (renamed.contains("model." + side + ".layers." + std::to_string(count) + ".fc1.weight")) ++count;
    return count;
  };
  std::int16_t heads = 0;
  variables->read(variables->tensor("encoder/num_heads"), 0, std::as_writable_bytes(std::span(&heads, 1)));
  const std::int64_t vocabulary = size("model.decoder.embed_tokens.weight", 0);
  config_ = {{{"model_type", "whisper"},
              {"d_model", size("model.decoder.embed_tokens.weight", 1)},
              {"encoder_layers", layers("encoder")},
              {"decoder_layers", layers("decoder")},
              {"encoder_attention_heads", heads},
              {"decoder_attention_heads", heads},
              {"encoder_ffn_dim", size("model.encoder.layers.0.fc1.weight", 0)},
              {"decoder_ffn_dim", size("model.decoder.layers.0.fc1.weight", 0)},
              {"num_mel_bins", size("model.encoder.conv1.weight", 1)},
              {"max_source_positions", size("model.encoder.embed_positions.weight", 0)},
              {"max_target_positions", size("model.decoder.embed_positions.weight", 0)},
              {"vocab_size", vocabulary}},
             variables->path()};
  const JsonObject own = stored_.required(ModelPart::kConfig).root();
  generation_ = {{{"suppress_tokens", own.has("suppress_ids") ? own.value("suppress_ids") : Json::array()},
                  {"begin_suppress_tokens", own.has("suppress_ids_begin") ? own.value("suppress_ids_begin") : Json::array()}},
                 stored_.subject(ModelPart::kConfig)};
  tensors_ = {path(), {std::make_shared<RenamedTensors>(variables, std::move(renamed))}};
}

const ModelDocument* CTranslate2Folder::document(ModelPart part) const {
  return part == ModelPart::kConfig ? &config_ : part == ModelPart::kGeneration ? &generation_ : nullptr;
}

std::vector<std::pair<std::string, RegularFile>> CTranslate2Folder::files() const {
  std::vector<std::pair<std::string, RegularFile>> files;
  for (const char* const name : {"config.json", "tokenizer.json", kWeights}) files.emplace_back(name, open_inside(path(), name));
  return files;
}

}  // namespace winnow
