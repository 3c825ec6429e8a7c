#include "engine/text/normalizer.h"

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
  if (type == "NFC" || type == "NFD") {
    steps_.emplace_back(type == "NFC" ? NormalForm::kNfc : NormalForm::kNfd);
  } else if (type == "Prepend") {
    steps_.emplace_back(Prepend{fields.string("prepend", kMaxPrefixBytes)});
  } else if (type == "Replace") {
    steps_.emplace_back(LiteralReplacement::read(fields));
  } else if (type == "Strip") {
    steps_.emplace_back(Strip{fields.boolean("strip_left"), fields.boolean("strip_right")});
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

void Normalizer::run(const LiteralReplacement& replacement, Result& result) {
  // A replacement of several characters has the place of the last one.
  if (result.text.starts_with(replacement.from) && (replacement.to.empty() || utf8::count(replacement.from) > 1)) begin_later(result.start);
  result.text = replacement.apply(result.text);
}

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
