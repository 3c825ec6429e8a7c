#include "engine/text/normalizer.h"

#include <algorithm>

#include "engine/text/letter_case.h"
#include "engine/text/step_description.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxPrefixBytes = 64;
constexpr std::size_t kMaxNormalizedBytes = std::size_t{64} << 20;

void begin_later(TextStart& start) {
  if (start == TextStart::kNew) start = TextStart::kAfterToken;
}

// Without the characters that a rule drops.
template <typename Drops>
std::string filtered(std::string_view text, TextStart& start, Drops&& drops) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    if (!drops(next.code_point)) {
      out.append(text.substr(at, next.bytes));
    } else if (out.empty()) {
      begin_later(start);
    }
    at += next.bytes;
  }
  return out;
}

// What SentencePiece's nmt rules call control characters and spaces.
bool is_nmt_control(char32_t c) {
  return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}
bool is_nmt_space(char32_t c) {
  return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
         c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
}

}  // namespace

Normalizer::Normalizer(const Json& description, const std::string& path) {
  if (description.is_null()) return;
  if (step_type(description, path, "normalizer") == "Sequence") {
    for (const Json& step : steps_of(description, "normalizers", path)) add(step, path);
  } else {
    add(description, path);
  }
}

void Normalizer::add(const Json& step, const std::string& path) {
  const std::string type = step_type(step, path, "normalizer");
  const JsonObject fields(step, path, "normalizer");
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    const bool compatible = type.size() == 4;
    const bool composes = type.back() == 'C';
    steps_.emplace_back(compatible ? (composes ? NormalForm::kNfkc : NormalForm::kNfkd) : (composes ? NormalForm::kNfc : NormalForm::kNfd));
  } else if (type == "Prepend") {
    steps_.emplace_back(Prepend{fields.string("prepend", kMaxPrefixBytes)});
  } else if (type == "Replace" && fields.object("pattern").has("Regex")) {
    steps_.emplace_back(PatternReplacement::read(fields));
  } else if (type == "Replace") {
    steps_.emplace_back(LiteralReplacement::read(fields));
  } else if (type == "Strip") {
    steps_.emplace_back(Strip{fields.boolean("strip_left"), fields.boolean("strip_right")});
  } else if (type == "Lowercase") {
    steps_.emplace_back(Lowercase{});
  } else if (type == "StripAccents") {
    steps_.emplace_back(StripAccents{});
  } else if (type == "Nmt") {
    steps_.emplace_back(Nmt{});
  } else if (type == "Precompiled") {
    steps_.emplace_back(CharacterMap(fields));
  } else {
    throw Exception(ErrorCode::kUnsupportedModel, path, "the normalizer " + type + " is not supported");
  }
}

void Normalizer::run(const NormalForm& form, Result& result) { result.text = normalized(form, result.text); }

void Normalizer::run(const Prepend& prefix, Result& result) {
  if (result.start != TextStart::kContinued && !result.text.empty()) result.text.insert(0, prefix.text);
}

void Normalizer::run(const Strip& strip, Result& result) {
  std::string_view text = result.text;
  if (strip.right) text = text.substr(0, utf8::without_spaces_at_end(text));
  if (strip.left && result.start != TextStart::kContinued) {
    const std::size_t spaces = utf8::spaces_at_start(text);
    if (spaces > 0) begin_later(result.start);
    text = text.substr(spaces);
  }
  result.text = std::string(text);
}

void Normalizer::run(const Lowercase&, Result& result) { result.text = lower_case(result.text); }

void Normalizer::run(const StripAccents&, Result& result) { result.text = filtered(result.text, result.start, is_mark); }

void Normalizer::run(const Nmt&, Result& result) {
  const std::string kept = filtered(result.text, result.start, is_nmt_control);
  result.text.clear();
  for (std::size_t at = 0; at < kept.size();) {
    const utf8::Decoded next = utf8::decode(kept, at);
    if (is_nmt_space(next.code_point)) {
      result.text.push_back(' ');
    } else {
      result.text.append(kept, at, next.bytes);
    }
    at += next.bytes;
  }
}

void Normalizer::run(const LiteralReplacement& replacement, Result& result) {
  // What is put in the place of several characters has the place of their last one.
  if (result.text.starts_with(replacement.from) && (replacement.to.empty() || utf8::count(replacement.from) > 1)) begin_later(result.start);
  result.text = replacement.apply(result.text);
}

void Normalizer::run(const PatternReplacement& replacement, Result& result) {
  PatternReplacement::Result replaced = replacement.apply(result.text);
  if (replaced.removed_from_start > (replacement.to.empty() ? 0u : 1u)) begin_later(result.start);
  result.text = std::move(replaced.text);
}

void Normalizer::run(const CharacterMap& map, Result& result) { result.text = map.apply(result.text); }

Normalizer::Result Normalizer::apply(std::string_view text, TextStart start) const {
  Result result{std::string(text), start};
  for (const auto& step : steps_) {
    std::visit([&](const auto& known) { run(known, result); }, step);
    if (result.text.size() > kMaxNormalizedBytes) {
      throw Exception(ErrorCode::kLimitExceeded, "", "the text becomes longer than 64 MiB before it is split");
    }
  }
  return result;
}

}  // namespace winnow
