// Ids and text of tokenizers drawn at random against the `tokenizers` library (tests/golden/tokenizer/drawn.jsonl; rebuild:
// tests/golden/make/make_drawn_tokenizer_golden.py).
#include <gtest/gtest.h>

#include "engine/text/detokenizer.h"
#include "tests/support/drawn_tokenizers.h"

namespace winnow {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

TEST(DrawnTokenizers, EncodeAndDecodeAsTheLibrary) {
  test::DrawnTokenizers drawn;
  int tokenizers = 0;
  int wrong = 0;
  while (drawn.next()) {
    ++tokenizers;
    const Tokenizer& tokenizer = drawn.tokenizer();
    for (const json& each : drawn.entry().at("texts")) {
      const std::string text = drawn.head().at("texts").at(each[0].get<std::size_t>());
      const Ids parse = each[1];
      const Ids as_text = each[2].is_null() ? parse : each[2].get<Ids>();
      const std::string kept = each[3].is_null() ? text : each[3].get<std::string>();
      const std::string skipped = each[4].is_null() ? kept : each[4].get<std::string>();
      Detokenizer stream(tokenizer, SpecialTokens::kSkip);
      std::string streamed;
      for (const std::int64_t id : parse) streamed += stream.push(id);
      streamed += stream.flush();
      const bool right = tokenizer.encode(text, SpecialText::kParse) == parse && tokenizer.encode(text, SpecialText::kAsText) == as_text &&
                         tokenizer.decode(parse, SpecialTokens::kKeep) == kept &&
                         tokenizer.decode(parse, SpecialTokens::kSkip) == skipped && streamed == skipped;
      if (right || ++wrong > 3) continue;
      const std::string which = json(text).dump(-1, ' ', true) + " by " + drawn.description();
      EXPECT_EQ(tokenizer.encode(text, SpecialText::kParse), parse) << which;
      EXPECT_EQ(tokenizer.encode(text, SpecialText::kAsText), as_text) << which;
      EXPECT_EQ(tokenizer.decode(parse, SpecialTokens::kKeep), kept) << which;
      EXPECT_EQ(tokenizer.decode(parse, SpecialTokens::kSkip), skipped) << which;
      EXPECT_EQ(streamed, skipped) << which;
    }
  }
  EXPECT_GE(tokenizers, 117);
  EXPECT_EQ(wrong, 0) << "see tests/golden/tokenizer/drawn_manifest.json";
}

}  // namespace
}  // namespace winnow
