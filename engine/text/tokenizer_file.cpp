#include "engine/text/tokenizer_file.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/file_bytes.h"

namespace winnow {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMaxDepth = 64;
// Everything but vocabulary and merges: added tokens (9 values each) and the description of the steps.
constexpr std::size_t kMaxDocumentValues = 1'000'000;

[[noreturn]] void refuse_unigram(const std::string& path) {
  throw Exception(ErrorCode::kUnsupportedModel, path, "the tokenizer model Unigram is not supported; BPE is");
}

// Streams model.vocab and model.merges into vectors and builds a document of the rest.
class Handler : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(TokenizerFile& file) : file_(file) {}

  Json document;

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override {
    if (in_vocabulary()) return vocabulary_id(v);
    return value(v);
  }
  bool number_unsigned(number_unsigned_t v) override {
    if (in_vocabulary()) {
      return vocabulary_id(v > static_cast<number_unsigned_t>(kMaxTokenIds) ? kMaxTokenIds : static_cast<std::int64_t>(v));
    }
    return value(v);
  }
  bool number_float(number_float_t v, const string_t&) override { return value(v); }
  bool binary(binary_t&) override { return false; }
  bool string(string_t& v) override {
    if (section_ == Section::kMerges) return merge_part(v);
    return value(v);
  }

  bool start_object(std::size_t) override {
    enter();
    if (section_ != Section::kNone) fail(section_name(), "holds an object");
    if (levels_.size() == 1 && key_ == "model") {
      in_model_ = true;
    } else if (in_model_ && levels_.size() == 2 && key_ == "vocab") {
      place(nullptr);  // so that a second one is seen
      section_ = Section::kVocabulary;
      section_depth_ = depth_;
      return true;
    }
    open(Json::object());
    return true;
  }
  bool key(string_t& v) override {
    if (section_ == Section::kVocabulary) {
      check_token(v);
      key_ = std::move(v);
      return true;
    }
    if (levels_.back()->contains(v)) fail(printable(v), "occurs twice in one object");
    key_ = std::move(v);
    return true;
  }
  bool end_object() override {
    if (section_ == Section::kVocabulary && depth_ == section_depth_) {
      section_ = Section::kNone;
      --depth_;
      return true;
    }
    close();
    if (levels_.size() == 1) in_model_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    enter();
    if (section_ == Section::kVocabulary) fail("model.vocab", "holds a list");
    if (section_ != Section::kNone) {
      if (depth_ != section_depth_ + 1) fail(section_name(), "is nested too deeply");
      pair_.clear();
      return true;
    }
    if (in_model_ && levels_.size() == 2 && key_ == "vocab") refuse_unigram(file_.path);  // a list of scores
    if (in_model_ && levels_.size() == 2 && key_ == "merges") {
      section_ = Section::kMerges;
      place(nullptr);
      section_depth_ = depth_;
      return true;
    }
    open(Json::array());
    return true;
  }
  bool end_array() override {
    if (section_ != Section::kNone) {
      if (depth_ == section_depth_) {
        section_ = Section::kNone;
      } else {
        if (pair_.size() != 2) fail("model.merges", "has an entry that is not a pair");
        add_merge(std::move(pair_[0]), std::move(pair_[1]));
      }
      --depth_;
      return true;
    }
    close();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    throw_json_syntax_error(file_.path, position, error.what());
  }

 private:
  enum class Section { kNone, kVocabulary, kMerges };

  [[noreturn]] void fail(const std::string& what, const std::string& reason) const {
    throw Exception(ErrorCode::kDamagedFile, file_.path, what + " " + reason);
  }
  static std::string printable(const std::string& key) { return key.size() > 64 ? "a key" : "key \"" + key + "\""; }
  const char* section_name() const { return section_ == Section::kMerges ? "model.merges" : "model.vocab"; }
  void check_token(const std::string& text) const {
    if (text.size() > kMaxTokenBytes) throw Exception(ErrorCode::kLimitExceeded, file_.path, "a token is longer than 4,096 bytes");
  }
  bool in_vocabulary() const { return section_ == Section::kVocabulary; }

  void enter() {
    if (++depth_ > kMaxDepth) throw Exception(ErrorCode::kLimitExceeded, file_.path, "the JSON is nested deeper than 64");
  }
  void count() {
    if (++values_ > kMaxDocumentValues) throw Exception(ErrorCode::kLimitExceeded, file_.path, "holds too many values");
  }
  Json* place(Json&& v) {
    count();
    if (levels_.empty()) {
      document = std::move(v);
      return &document;
    }
    Json& parent = *levels_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(v));
      return &parent.back();
    }
    return &(parent[key_] = std::move(v));
  }
  void open(Json&& container) { levels_.push_back(place(std::move(container))); }
  void close() {
    levels_.pop_back();
    --depth_;
  }
  bool value(Json&& v) {
    if (section_ == Section::kVocabulary) fail("model.vocab", "has an id that is not an integer");
    if (section_ == Section::kMerges) fail("model.merges", "has an entry that is not text");
    place(std::move(v));
    return true;
  }
  bool vocabulary_id(std::int64_t id) {
    if (id < 0) fail("model.vocab", "has a negative id");
    if (id >= kMaxTokenIds) throw Exception(ErrorCode::kLimitExceeded, file_.path, "an id is over 1,048,575");
    // An id without a text, as Whisper's vocabulary of several languages has one, stands for nothing.
    if (!key_.empty()) file_.vocabulary.emplace_back(std::move(key_), id);
    key_.clear();
    return true;
  }
  bool merge_part(std::string& v) {
    if (v.size() > 2 * kMaxTokenBytes) throw Exception(ErrorCode::kLimitExceeded, file_.path, "a merge is longer than 8,192 bytes");
    if (depth_ > section_depth_) {
      if (pair_.size() == 2) fail("model.merges", "has an entry that is not a pair");
      pair_.push_back(std::move(v));
      return true;
    }
    const std::size_t space = v.find(' ');
    if (space == std::string::npos || v.find(' ', space + 1) != std::string::npos) fail("model.merges", "has an entry that is not a pair");
    add_merge(v.substr(0, space), v.substr(space + 1));
    return true;
  }
  void add_merge(std::string first, std::string second) {
    if (file_.merges.size() >= kMaxMerges) throw Exception(ErrorCode::kLimitExceeded, file_.path, "more than a million merges");
    file_.merges.emplace_back(std::move(first), std::move(second));
  }

  TokenizerFile& file_;
  std::vector<Json*> levels_;  // open containers of the document
  std::string key_;
  std::vector<std::string> pair_;
  std::size_t depth_ = 0;
  std::size_t section_depth_ = 0;
  std::size_t values_ = 0;
  Section section_ = Section::kNone;
  bool in_model_ = false;
};

bool flag(const Json& object, const char* key, const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return false;
  if (!found->is_boolean()) throw Exception(ErrorCode::kDamagedFile, path, std::string(key) + " is not true or false");
  return found->get<bool>();
}

std::string text_or_empty(const Json& object, const char* key, const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) throw Exception(ErrorCode::kDamagedFile, path, std::string(key) + " is not text");
  return found->get<std::string>();
}

// Everything but its id.
AddedToken added_token(const Json& entry, const std::string& path) {
  if (!entry.is_object()) throw Exception(ErrorCode::kDamagedFile, path, "an added token is not an object");
  AddedToken token;
  token.content = JsonObject(entry, path, "added_tokens").string("content", kMaxTokenBytes);
  token.special = flag(entry, "special", path);
  token.single_word = flag(entry, "single_word", path);
  token.lstrip = flag(entry, "lstrip", path);
  token.rstrip = flag(entry, "rstrip", path);
  token.normalized = flag(entry, "normalized", path);
  if (token.content.empty()) throw Exception(ErrorCode::kDamagedFile, path, "an added token is empty");
  return token;
}

void check_added_tokens(const TokenizerFile& file, const std::string& path) {
  if (file.added_tokens.size() > kMaxAddedTokens) throw Exception(ErrorCode::kLimitExceeded, path, "more than 65,536 added tokens");
  std::size_t bytes = 0;
  for (const AddedToken& token : file.added_tokens) bytes += token.content.size();
  if (bytes > kMaxAddedBytes) throw Exception(ErrorCode::kLimitExceeded, path, "added tokens of more than 4 MiB");
}

void read_added_tokens(const Json& document, TokenizerFile& file) {
  const auto list = document.find("added_tokens");
  if (list == document.end() || list->is_null()) return;
  if (!list->is_array()) throw Exception(ErrorCode::kDamagedFile, file.path, "added_tokens is not a list");
  if (list->size() > kMaxAddedTokens) throw Exception(ErrorCode::kLimitExceeded, file.path, "more than 65,536 added tokens");
  std::unordered_set<std::int64_t> ids;
  std::unordered_set<std::string> contents;
  for (const Json& entry : *list) {
    AddedToken token = added_token(entry, file.path);
    token.id = JsonObject(entry, file.path, "added_tokens").integer("id", 0, kMaxTokenIds - 1);
    if (!ids.insert(token.id).second) throw Exception(ErrorCode::kDamagedFile, file.path, "two added tokens have one id");
    if (!contents.insert(token.content).second) throw Exception(ErrorCode::kDamagedFile, file.path, "an added token occurs twice");
    file.added_tokens.push_back(std::move(token));
  }
  check_added_tokens(file, file.path);
}

void read_merges_model(const Json& model, TokenizerFile& file) {
  if (!text_or_empty(model, "continuing_subword_prefix", file.path).empty() ||
      !text_or_empty(model, "end_of_word_suffix", file.path).empty()) {
    throw Exception(ErrorCode::kUnsupportedModel, file.path, "tokenizers with word prefixes or suffixes are not supported");
  }
  file.unknown_token = text_or_empty(model, "unk_token", file.path);
  file.fuse_unknown = flag(model, "fuse_unk", file.path);
  file.ignore_merges = flag(model, "ignore_merges", file.path);  // dropout is for training and of no effect here
}

void read_model(const Json& document, TokenizerFile& file) {
  const auto model = document.find("model");
  if (model == document.end() || !model->is_object()) throw Exception(ErrorCode::kDamagedFile, file.path, "has no model");
  std::string type = text_or_empty(*model, "type", file.path);
  if (type.empty() && !file.merges.empty()) type = "BPE";  // old files leave it out
  if (type == "Unigram") refuse_unigram(file.path);
  if (type != "BPE") {
    const bool known = type == "WordPiece" || type == "WordLevel";
    throw Exception(ErrorCode::kUnsupportedModel, file.path,
                    known ? "the tokenizer model " + type + " is not supported; BPE is" : "the tokenizer model is not BPE");
  }
  read_merges_model(*model, file);
  file.byte_fallback = flag(*model, "byte_fallback", file.path);
  if (file.vocabulary.empty()) throw Exception(ErrorCode::kDamagedFile, file.path, "has an empty vocabulary");
}

// {"single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": ...}, ...]}: those before the sequence. Others put nothing before a text, or
// belong to models that no chat is held with.
void read_prefix(const Json& processor, TokenizerFile& file) {
  if (!processor.is_object()) return;
  if (const auto parts = processor.find("processors"); parts != processor.end() && parts->is_array()) {
    for (const Json& part : *parts) {
      if (part.is_object() && !part.contains("processors")) read_prefix(part, file);
    }
    return;
  }
  const auto single = processor.find("single");
  if (text_or_empty(processor, "type", file.path) != "TemplateProcessing" || single == processor.end() || !single->is_array()) return;
  for (const Json& piece : *single) {
    if (!piece.is_object() || !piece.contains("SpecialToken")) return;
    if (!piece["SpecialToken"].is_object())
      throw Exception(ErrorCode::kDamagedFile, file.path, "a token of post_processor is not an object");
    file.prefix.push_back(text_or_empty(piece["SpecialToken"], "id", file.path));
  }
}

Json take(Json& document, const char* key) {
  const auto found = document.find(key);
  return found == document.end() ? Json(nullptr) : std::move(*found);
}

}  // namespace

TokenizerFile read_tokenizer_file(const std::string& path) {
  TokenizerFile file{.path = path};
  const std::string bytes = read_file_bytes(path, kMaxFileBytes);
  require_plain_json_text(bytes, path);
  Handler handler(file);
  if (!Json::sax_parse(bytes, &handler)) throw Exception(ErrorCode::kDamagedFile, path, "is not JSON");
  if (!handler.document.is_object()) throw Exception(ErrorCode::kDamagedFile, path, "is not a JSON object");
  read_model(handler.document, file);
  read_added_tokens(handler.document, file);
  file.normalizer = take(handler.document, "normalizer");
  file.pre_tokenizer = take(handler.document, "pre_tokenizer");
  file.decoder = take(handler.document, "decoder");
  read_prefix(take(handler.document, "post_processor"), file);
  return file;
}

void replace_added_tokens(const JsonObject& config, TokenizerFile& file) {
  if (!config.has("added_tokens_decoder")) return;
  const Json& decoder = config.value("added_tokens_decoder");
  if (!decoder.is_object()) config.refuse(ErrorCode::kDamagedFile, "added_tokens_decoder", "is not an object");
  if (decoder.size() > kMaxAddedTokens) config.refuse(ErrorCode::kLimitExceeded, "added_tokens_decoder", "has more than 65,536 tokens");
  std::vector<std::pair<std::size_t, AddedToken>> told;  // with their keys, which are told in order of the ids
  for (const auto& [key, entry] : decoder.items()) {
    std::size_t number = 0;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), number);
    if (read.ec != std::errc() || read.ptr != key.data() + key.size())
      config.refuse(ErrorCode::kDamagedFile, "added_tokens_decoder", "has a key that is no id");
    told.emplace_back(number, added_token(entry, config.file()));
  }
  std::ranges::sort(told, {}, &std::pair<std::size_t, AddedToken>::first);
  std::unordered_map<std::string, std::size_t> known;
  std::unordered_map<std::string_view, std::int64_t> words;
  auto next = static_cast<std::int64_t>(file.vocabulary.size());
  for (std::size_t i = 0; i < file.added_tokens.size(); ++i) {
    known.emplace(file.added_tokens[i].content, i);
    next = std::max(next, file.added_tokens[i].id + 1);
  }
  for (const auto& [text, id] : file.vocabulary) words.emplace(text, id);
  for (auto& [number, token] : told) {
    const auto [place, added] = known.emplace(token.content, file.added_tokens.size());
    if (added) {
      const auto word = words.find(token.content);
      token.id = word != words.end() ? word->second : next++;
      file.added_tokens.push_back(std::move(token));
    } else {
      token.id = file.added_tokens[place->second].id;
      file.added_tokens[place->second] = std::move(token);
    }
  }
  check_added_tokens(file, config.file());
}

}  // namespace winnow
