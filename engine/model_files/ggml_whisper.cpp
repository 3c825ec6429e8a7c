#include "engine/model_files/ggml_whisper.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "engine/base/error.h"
#include "engine/model_files/file_cursor.h"
#include "engine/text/byte_alphabet.h"
#include "engine/weights/gguf_header.h"

namespace winnow {
namespace {

constexpr std::uint32_t kGgmlMagic = 0x67676d6c;
constexpr std::uint32_t kEnglishVocabulary = 51'864;  // of several languages: one word more; with Cantonese: two tokens more
constexpr std::int64_t kEndOfEnglish = 50'256;
constexpr std::string_view kSpecialTokens =  // behind the words, in their order
    "endoftext startoftranscript en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt "
    "la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz "
    "fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue translate transcribe startoflm startofprev nospeech notimestamps ";
constexpr std::ptrdiff_t kTasks = 5;  // from translate on, which an answer does not have; so with the first
// They stand for what is not said, alone and behind a space.
constexpr std::string_view kSymbols =
    "\" # ( ) * + / : ; < = > @ [ \\ ] ^ _ ` { | } ~ 「 」 『 』 << >> <<< >>> -- --- -( -[ (' (\" (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪ ♩ ♪ ♫ "
    "♬ ♭ ♮ ♯ ";
constexpr const char *kNote = "\xE2\x99", *kSpacedNote = " \xE2\x99";  // how those of music begin
constexpr std::uint64_t kMostFilterValues = std::uint64_t{1} << 20;
constexpr std::size_t kMostNameBytes = 256;
constexpr std::uint32_t kMostGgmlRank = 4;
constexpr std::uint32_t kVersionFactor = 1'000;  // of the blocks' layout, in the file's type

// The sizes at a file's beginning, in their order; the last is of the tensors' type, which config.json does not have.
constexpr std::string_view kSizeNames =
    "vocab_size max_source_positions d_model encoder_attention_heads encoder_layers max_target_positions d_model decoder_attention_heads "
    "decoder_layers num_mel_bins ";
using GgmlSizes = std::array<std::uint32_t, 11>;
constexpr std::size_t kVocabulary = 0, kWidth = 2, kBins = 9, kType = 10;

// Modules of ggml's files, each with its name in transformers behind it.
constexpr std::string_view kModuleNames =
    "attn.query self_attn.q_proj attn.key self_attn.k_proj attn.value self_attn.v_proj attn.out self_attn.out_proj "
    "attn_ln self_attn_layer_norm cross_attn.query encoder_attn.q_proj cross_attn.key encoder_attn.k_proj "
    "cross_attn.value encoder_attn.v_proj cross_attn.out encoder_attn.out_proj cross_attn_ln encoder_attn_layer_norm "
    "mlp.0 fc1 mlp.2 fc2 mlp_ln final_layer_norm conv1 conv1 conv2 conv2 ln_post layer_norm ln layer_norm token_embedding embed_tokens ";

// The words of a list, each with a space behind it.
std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  for (std::size_t space = 0; (space = list.find(' ')) != std::string_view::npos; list.remove_prefix(space + 1))
    words.emplace_back(list.substr(0, space));
  return words;
}

// "encoder.blocks.0.mlp.2.bias" in transformers; empty: there it has no name.
std::string ggml_name_of(const std::string& stored) {
  const std::size_t side = stored.find('.');
  const std::size_t last = stored.rfind('.');
  if (side == std::string::npos) return {};
  std::string prefix = "model." + stored.substr(0, side + 1);
  if (stored.ends_with(".positional_embedding")) return prefix + "embed_positions.weight";
  std::string module = stored.substr(side + 1, last - side - 1);
  if (constexpr std::string_view kBlocks = "blocks."; module.starts_with(kBlocks)) {
    const std::size_t dot = module.find('.', kBlocks.size());
    prefix += "layers." + module.substr(kBlocks.size(), dot - kBlocks.size()) + ".";
    module.erase(0, dot == std::string::npos ? dot : dot + 1);
  }
  static const std::vector<std::string> names = words_of(kModuleNames);
  for (std::size_t i = 0; i < names.size(); i += 2)
    if (names[i] == module) return prefix + names[i + 1] + stored.substr(last);
  return {};
}

class GgmlTensors final : public TensorFile {
 public:
  explicit GgmlTensors(RegularFile file) : file_(std::move(file)) {
    FileCursor cursor(file_);
    if (cursor.number<std::uint32_t>() != kGgmlMagic) damaged("it does not begin as a file of whisper.cpp does");
    sizes = cursor.number<GgmlSizes>();
    const std::uint64_t rows = cursor.number<std::uint32_t>(), columns = cursor.number<std::uint32_t>();
    if (rows != sizes[kBins] || rows * columns > kMostFilterValues) damaged("its filters are not those of its sizes");
    cursor.skip(sizeof(float) * rows * columns);
    const auto count = cursor.number<std::uint32_t>();
    if (count > sizes[kVocabulary]) damaged("its words are more than its sizes say");
    for (std::uint32_t id = 0; id < count; ++id) words.push_back(text(cursor, cursor.number<std::uint32_t>(), kMaxTokenBytes));
    while (!cursor.at_end()) read_tensor(cursor);
  }

  const std::string& path() const noexcept override { return file_.path(); }
  bool changed() const noexcept override { return file_.changed(); }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override {
    file_.read_at(tensor.begin + offset, target);
  }

  GgmlSizes sizes{};
  std::vector<std::string> words;  // bytes, by id

 private:
  [[noreturn]] void damaged(const std::string& reason) const { throw Exception(ErrorCode::kDamagedFile, path(), reason); }
  std::string text(FileCursor& cursor, std::uint32_t bytes, std::size_t most) const {
    if (bytes > most) damaged("a text of " + std::to_string(bytes) + " bytes");
    return cursor.text(bytes);
  }

  void read_tensor(FileCursor& cursor) {
    const auto rank = cursor.number<std::uint32_t>(), name_bytes = cursor.number<std::uint32_t>(), number = cursor.number<std::uint32_t>();
    if (rank > kMostGgmlRank) damaged("a tensor of " + std::to_string(rank) + " dimensions");
    std::vector<std::uint64_t> dims;
    for (std::uint32_t i = 0; i < rank; ++i) dims.push_back(cursor.number<std::uint32_t>());
    const std::string name = text(cursor, name_bytes, kMostNameBytes);
    const std::string subject = path() + ": " + name;
    StoredTensor tensor;
    tensor.type = stored_type_numbered(number, subject);
    // Another layout was left behind with version 1 by blocks of five bits, with version 2 by the others (ggml, May 2023).
    const bool five = tensor.type == StoredType::kQ5_0 || tensor.type == StoredType::kQ5_1;
    if (in_few_bits(tensor.type) && sizes[kType] / kVersionFactor < (five ? 1 : 2))
      throw Exception(ErrorCode::kUnsupportedFormat, subject, "its blocks have the layout of before May 2023: quantise the model anew");
    tensor.begin = cursor.position();
    cursor.skip(stored_bytes_of(dims, tensor.type, subject));
    tensor.end = cursor.position();
    if (name.ends_with(".bias") && rank == 2 && dims.front() == 1) dims.erase(dims.begin());  // a column, of convolutions
    tensor.shape.assign(dims.rbegin(), dims.rend());
    const std::string known = ggml_name_of(name);
    if (!known.empty() && !tensors_.emplace(known, std::move(tensor)).second)
      throw Exception(ErrorCode::kDamagedFile, subject, "the tensor occurs twice");
    if (tensors_.size() > kMaxTensors) damaged("more than " + std::to_string(kMaxTensors) + " tensors");
  }

  RegularFile file_;
};

// Ids of words that stand for what is not said.
std::vector<std::int64_t> not_spoken(const std::map<std::string, std::int64_t>& ids) {
  std::vector<std::int64_t> found;
  const auto add = [&](const std::string& text) {
    if (const auto word = ids.find(text); word != ids.end()) found.push_back(word->second);
  };
  for (const char* const text : {" -", " '", kNote, kSpacedNote}) add(text);
  for (const std::string& symbol : words_of(kSymbols)) {
    add(symbol);
    add(" " + symbol);
  }
  return found;
}

}  // namespace

bool begins_as_ggml_whisper(const RegularFile& file) {
  std::array<std::uint32_t, 2> head{};
  if (file.size_bytes() < sizeof head) return false;
  file.read_at(0, std::as_writable_bytes(std::span(head)));
  return head[0] == kGgmlMagic && head[1] >= kEnglishVocabulary;
}

GgmlWhisper::GgmlWhisper(std::string path) : path_(std::move(path)) {
  const auto file = std::make_shared<const GgmlTensors>(RegularFile(path_));
  const GgmlSizes& sizes = file->sizes;
  if (sizes[kVocabulary] < kEnglishVocabulary || sizes[kVocabulary] > kEnglishVocabulary + 2)
    throw Exception(ErrorCode::kUnsupportedModel, path_,
                    "no Whisper has a vocabulary of " + std::to_string(sizes[kVocabulary]) + " tokens");
  const bool cantonese = sizes[kVocabulary] > kEnglishVocabulary + 1;
  const std::int64_t end = kEndOfEnglish + (sizes[kVocabulary] > kEnglishVocabulary ? 1 : 0);
  config_ = {{{"model_type", "whisper"}}, path_};
  const std::vector<std::string> names = words_of(kSizeNames);
  for (std::size_t i = 0; i < names.size(); ++i) config_.content[names[i]] = sizes[i];
  for (const char* const side : {"encoder_ffn_dim", "decoder_ffn_dim"}) config_.content[side] = 4 * std::uint64_t{sizes[kWidth]};
  tokenizer_.path = path_;
  tokenizer_.pre_tokenizer = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  tokenizer_.decoder = {{"type", "ByteLevel"}};
  std::vector<AddedToken>& special = tokenizer_.added_tokens;
  for (const std::string& name : words_of(kSpecialTokens))
    if (cantonese || name != "yue") special.push_back({.id = end + std::ssize(special), .content = "<|" + name + "|>", .special = true});
  std::map<std::string, std::int64_t> ids;
  for (std::int64_t id = 0; id < std::min(end, std::ssize(file->words)); ++id) {
    const std::string& word = file->words[static_cast<std::size_t>(id)];
    if (word.empty()) continue;  // an id without a text, of the vocabulary of several languages
    tokenizer_.vocabulary.emplace_back(ByteAlphabet::instance().text_of(word), id);
    ids.emplace(word, id);
  }
  std::vector<std::int64_t> suppressed = not_spoken(ids);
  suppressed.push_back(end + 1);
  for (auto task = special.end() - 1 - kTasks; task != special.end() - 1; ++task) suppressed.push_back(task->id);
  std::vector<std::int64_t> first = {end};
  if (const auto space = ids.find(" "); space != ids.end()) first.push_back(space->second);
  generation_ = {{{"suppress_tokens", suppressed}, {"begin_suppress_tokens", first}}, path_};
  tensors_ = {path_, {file}};
}

std::string GgmlWhisper::name() const { return std::filesystem::path(path_).stem().string(); }

const ModelDocument* GgmlWhisper::document(ModelPart part) const {
  return part == ModelPart::kConfig ? &config_ : part == ModelPart::kGeneration ? &generation_ : nullptr;
}

TemplateText GgmlWhisper::chat_template(std::string_view /*fallback*/) const {
  throw Exception(ErrorCode::kUnsupportedModel, path_, "a Whisper model hears; it does not chat");
}

std::vector<std::pair<std::string, RegularFile>> GgmlWhisper::files() const {
  std::vector<std::pair<std::string, RegularFile>> files;
  files.emplace_back(std::filesystem::path(path_).filename().string(), RegularFile(path_));
  return files;
}

}  // namespace winnow
