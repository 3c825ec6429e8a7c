// The step "normalizer" of tokenizer.json: what text becomes before added tokens of normalised text are looked for in it.
//
// Used by the tokenizer. Knows NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Nmt, Prepend, Replace (a text or a pattern),
// Precompiled and Sequence; another step is refused by name, never skipped.
// Errors: Exception. Constructor: kUnsupportedModel, kDamagedFile, kLimitExceeded (more than 16 steps). apply(): kLimitExceeded (a text
// over 64 MiB between two steps), kDamagedFile (a character map that points outside itself).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/character_map.h"
#include "engine/text/literal_replacement.h"
#include "engine/text/normal_form.h"
#include "engine/text/pattern_replacement.h"

namespace winnow {

enum class TextStart : int;  // tokenizer.h

class Normalizer {
 public:
  Normalizer(const Json& description, const std::string& path);

  struct Result {
    std::string text;
    // kNew becomes kAfterToken where the first characters are gone: for `tokenizers` it is not the prompt's beginning then.
    TextStart start;
  };
  // text: valid UTF-8. start: a text that goes on another gets no prefix and keeps its first spaces.
  Result apply(std::string_view text, TextStart start) const;

 private:
  struct Prepend {
    std::string text;
  };
  struct Strip {
    bool left = false;
    bool right = false;
  };
  struct Lowercase {};
  struct StripAccents {};
  struct Nmt {};
  void add(const Json& step, const std::string& path);

  static void run(const NormalForm& form, Result& result);
  static void run(const Prepend& prefix, Result& result);
  static void run(const Strip& strip, Result& result);
  static void run(const Lowercase&, Result& result);
  static void run(const StripAccents&, Result& result);
  static void run(const Nmt&, Result& result);
  static void run(const LiteralReplacement& replacement, Result& result);
  static void run(const PatternReplacement& replacement, Result& result);
  static void run(const CharacterMap& map, Result& result);

  std::vector<std::variant<NormalForm, Prepend, Strip, Lowercase, StripAccents, Nmt, LiteralReplacement, PatternReplacement, CharacterMap>>
      steps_;
};

}  // namespace winnow
