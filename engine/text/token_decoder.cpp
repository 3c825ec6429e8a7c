#include "engine/text/token_decoder.h"

#include "engine/text/byte_alphabet.h"
#include "engine/text/byte_token.h"

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
  if (type != "Sequence") throw Exception(ErrorCode::kUnsupportedModel, path, "the decoder " + type + " is not supported");
  const Json& steps = JsonObject(description, path, "decoder").list("decoders", kMaxDecoders);
  if (steps.size() == 1 && decoder_type(steps[0], path) == "ByteLevel") {
    alphabet_ = TokenAlphabet::kBytes;
    return;
  }
  for (const Json& step : steps) add(step, path);
  if (!fused_) throw Exception(ErrorCode::kUnsupportedModel, path, "a decoder of characters that does not fuse them is not supported");
}

void TokenDecoder::add(const Json& step, const std::string& path) {
  const std::string type = decoder_type(step, path);
  const JsonObject fields(step, path, "decoder");
  // What changes single tokens comes before they are one text, what changes the text after that.
  if (type == "Replace" && !fused_ && !byte_fallback_) {
    replacements_.push_back(LiteralReplacement::read(fields));
    // A million tokens that each grow are more than any file that is read.
    const LiteralReplacement& replacement = replacements_.back();
    if (replacement.to.size() > replacement.from.size()) {
      throw Exception(ErrorCode::kUnsupportedModel, path, "a decoder that makes tokens longer is not supported");
    }
  } else if (type == "ByteFallback" && !fused_) {
    byte_fallback_ = true;
  } else if (type == "Fuse" && !fused_) {
    fused_ = true;
  } else if (type == "Strip" && fused_ && !strips_first_space_ && fields.string("content", 8) == " " &&
             fields.integer("start", 0, 1024) == 1 && fields.integer("stop", 0, 1024) == 0) {
    strips_first_space_ = true;
  } else {
    throw Exception(ErrorCode::kUnsupportedModel, path, "the decoder " + type + " is not supported in this place");
  }
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

}  // namespace winnow
