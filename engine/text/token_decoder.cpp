#include "engine/text/token_decoder.h"

#include "engine/text/byte_alphabet.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxDecoders = 16;

std::string decoder_type(const Json& step, const std::string& path) {
  if (!step.is_object()) throw Exception(ErrorCode::kUnsupportedModel, path, "the tokenizer has no decoder");
  return JsonObject(step, path, "decoder").string("type", 64);
}

}  // namespace

TokenDecoder::TokenDecoder(const Json& description, const std::string& path) {
  const std::string type = decoder_type(description, path);
  if (type == "ByteLevel") {
    alphabet_ = TokenAlphabet::kBytes;
    return;
  }
  if (type == "Metaspace") {
    add(description, path);
    return;
  }
  if (type != "Sequence") throw Exception(ErrorCode::kUnsupportedModel, path, "the decoder " + type + " is not supported");
  const Json& steps = JsonObject(description, path, "decoder").list("decoders", kMaxDecoders);
  if (steps.size() == 1 && decoder_type(steps[0], path) == "ByteLevel") {
    alphabet_ = TokenAlphabet::kBytes;
    return;
  }
  for (const Json& step : steps) add(step, path);
}

void TokenDecoder::add(const Json& step, const std::string& path) {
  const std::string type = decoder_type(step, path);
  const JsonObject fields(step, path, "decoder");
  // Steps that change single tokens come before they are one text, those that change the text after that.
  if (type == "Replace" && !fused_ && !byte_fallback_) {
    replacements_.push_back(LiteralReplacement::read(fields));
    // A million tokens that each grow are more than any file that is read.
    const LiteralReplacement& replacement = replacements_.back();
    if (replacement.to.size() > replacement.from.size()) {
      throw Exception(ErrorCode::kUnsupportedModel, path, "a decoder that makes tokens longer is not supported");
    }
  } else if (type == "Metaspace" && !fused_ && replacements_.empty()) {
    add_metaspace(fields);
  } else if (type == "ByteFallback" && !fused_) {
    byte_fallback_ = true;
  } else if (type == "Fuse" && !fused_) {
    fused_ = true;
  } else if (type == "Strip" && fused_ && first_spaces_ == FirstSpaces::kKept && fields.string("content", 8) == " " &&
             fields.integer("start", 0, 1024) == 1 && fields.integer("stop", 0, 1024) == 0) {
    first_spaces_ = FirstSpaces::kOneGoes;
  } else {
    throw Exception(ErrorCode::kUnsupportedModel, path, "the decoder " + type + " is not supported in this place");
  }
}

void TokenDecoder::add_metaspace(const JsonObject& fields) {
  replacements_.push_back({fields.string("replacement", 4), " "});
  if (replacements_.back().from.empty())
    throw Exception(ErrorCode::kDamagedFile, fields.file(), "Metaspace replaces a space by no character");
  const bool prepends = fields.string("prepend_scheme", 16, "always") != "never";
  if (prepends) first_spaces_ = FirstSpaces::kAllGo;
}

std::string TokenDecoder::bytes_of(std::string_view text) const {
  if (alphabet_ == TokenAlphabet::kBytes) return ByteAlphabet::instance().bytes_of(text).value_or(std::string(text));
  if (byte_fallback_) {
    if (const auto byte = byte_of_token_name(text)) return std::string(1, static_cast<char>(*byte));
  }
  std::string out(text);
  for (const LiteralReplacement& replacement : replacements_) out = replacement.apply(out);
  return out;
}

bool TokenDecoder::makes_spaces_of(std::string_view token_text) const {
  return first_spaces_ == FirstSpaces::kAllGo && token_text.find(replacements_.front().from) != std::string_view::npos;
}

}  // namespace winnow
