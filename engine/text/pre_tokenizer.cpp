#include "engine/text/pre_tokenizer.h"

#include "engine/text/nfc.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxSteps = 16;
constexpr int kMaxDepth = 8;
constexpr std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string type_of(const Json& step, const std::string& path, const char* what) {
  if (!step.is_object()) throw Exception(ErrorCode::kDamagedFile, path, std::string(what) + " is not an object");
  return JsonObject(step, path, what).string("type", 64);
}

const Json& sequence_of(const Json& step, const char* key, const std::string& path) {
  const auto found = step.find(key);
  if (found == step.end() || !found->is_array()) throw Exception(ErrorCode::kDamagedFile, path, std::string(key) + " is not a list");
  if (found->size() > kMaxSteps) throw Exception(ErrorCode::kLimitExceeded, path, std::string(key) + " has more than 16 steps");
  return *found;
}

std::string escape_literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80 && std::string_view(R"(\^$.|?*+()[]{}#-)").find(c) != std::string_view::npos)
      out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace

Normalizer::Normalizer(const Json& description, const std::string& path) {
  if (description.is_null()) return;
  const auto add = [&](const Json& step) {
    const std::string type = type_of(step, path, "normalizer");
    if (type != "NFC") throw Exception(ErrorCode::kUnsupportedModel, path, "the normalizer " + type + " is not supported");
    nfc_ = true;
  };
  if (type_of(description, path, "normalizer") == "Sequence") {
    for (const Json& step : sequence_of(description, "normalizers", path)) add(step);
  } else {
    add(description);
  }
}

std::string Normalizer::apply(std::string_view text) const { return nfc_ ? normalize_nfc(text) : std::string(text); }

PreTokenizer::PreTokenizer(const Json& description, const std::string& path) {
  if (description.is_null()) throw Exception(ErrorCode::kUnsupportedModel, path, "a tokenizer without byte-level steps is not supported");
  add(description, path, 0);
}

void PreTokenizer::add(const Json& step, const std::string& path, int depth) {
  if (depth > kMaxDepth || patterns_.size() >= kMaxSteps) throw Exception(ErrorCode::kLimitExceeded, path, "too many pre-tokenizers");
  const std::string type = type_of(step, path, "pre_tokenizer");
  const JsonObject fields(step, path, "pre_tokenizer");
  if (type == "Sequence") {
    const Json& steps = sequence_of(step, "pretokenizers", path);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      // Bytes are bytes from ByteLevel on: nothing that reads characters may follow it.
      const bool last = i + 1 == steps.size();
      if (!last && type_of(steps[i], path, "pre_tokenizer") == "ByteLevel") {
        throw Exception(ErrorCode::kUnsupportedModel, path, "pre-tokenizers after ByteLevel are not supported");
      }
      add(steps[i], path, depth + 1);
    }
    if (steps.empty() || type_of(steps.back(), path, "pre_tokenizer") != "ByteLevel") {
      throw Exception(ErrorCode::kUnsupportedModel, path, "a tokenizer without byte-level steps is not supported");
    }
  } else if (type == "ByteLevel") {
    prefix_space_ = fields.boolean("add_prefix_space", true);
    if (prefix_space_ && !patterns_.empty()) {
      throw Exception(ErrorCode::kUnsupportedModel, path, "a prefix space after other pre-tokenizers is not supported");
    }
    if (fields.boolean("use_regex", true)) patterns_.emplace_back(kGpt2Pattern, path);
  } else if (type == "Split" && depth > 0) {
    if (fields.string("behavior", 64) != "Isolated" || fields.boolean("invert", false)) {
      throw Exception(ErrorCode::kUnsupportedModel, path, "only isolated splits are supported");
    }
    const JsonObject pattern = fields.object("pattern");
    if (pattern.has("Regex")) {
      patterns_.emplace_back(pattern.string("Regex", 64 * 1024), path);
    } else {
      patterns_.emplace_back(escape_literal(pattern.string("String", kMaxSteps * 1024)), path);
    }
  } else if (type == "Digits" && depth > 0) {
    patterns_.emplace_back(fields.boolean("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)", path);
  } else {
    throw Exception(ErrorCode::kUnsupportedModel, path, "the pre-tokenizer " + type + " is not supported");
  }
}

std::string PreTokenizer::prepare(std::string_view text) const {
  std::string out;
  out.reserve(text.size() + 1);
  if (prefix_space_ && !text.starts_with(' ')) out.push_back(' ');
  return out.append(text);
}

std::vector<TextPiece> PreTokenizer::split(std::string_view text, Deadline& deadline) const {
  std::vector<TextPiece> pieces;
  const auto late = [&] { return deadline.passed(); };
  if (patterns_.empty()) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = window_end(text, at, text.size());
      pieces.push_back({at, end, false});
      at = end;
    }
    return pieces;
  }
  pieces.push_back({0, text.size(), false});
  for (const SplitPattern& pattern : patterns_) {
    std::vector<TextPiece> finer;
    for (const TextPiece& piece : pieces) {
      if (piece.bytewise) {
        finer.push_back(piece);
      } else if (!pattern.split(text, piece.begin, piece.end, finer, late)) {
        throw Exception(ErrorCode::kLimitExceeded, "", "splitting the text into words takes too long");
      }
    }
    pieces = std::move(finer);
  }
  return pieces;
}

}  // namespace winnow
