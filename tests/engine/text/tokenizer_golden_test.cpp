// Ids and text against the `tokenizers` library (tests/golden/tokenizer; rebuild: tests/golden/make/make_tokenizer_golden.py).
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "engine/text/detokenizer.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/drawn_tokenizers.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

using nlohmann::json;

using Ids = std::vector<std::int64_t>;
const std::string kFolder = source_folder() + "/tests/golden/tokenizer";

struct Case {
  std::string text;
  Ids parse;
  Ids as_text;
  std::string decoded;
};

std::vector<Case> read_cases(const std::string& tokenizer) {
  std::ifstream file(kFolder + "/cases.jsonl");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.value("tokenizer", "qwen2_like") != tokenizer) continue;
    Case c;
    c.text = json["text"];
    c.parse = json["parse"].get<Ids>();
    c.as_text = json.contains("as_text") ? json["as_text"].get<Ids>() : c.parse;
    c.decoded = json.value("decoded", c.text);
    cases.push_back(std::move(c));
  }
  return cases;
}

class TokenizerGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(TokenizerGolden, EncodesAndDecodesAsTheLibrary) {
  const auto tokenizer = Tokenizer::from(read_tokenizer_file(kFolder + "/" + GetParam() + "/tokenizer.json"));
  const std::vector<Case> cases = read_cases(GetParam());
  ASSERT_GE(cases.size(), std::string(GetParam()) == "qwen2_like" ? 2000u : 160u);
  int wrong = 0;
  for (const Case& c : cases) {
    const Ids parse = tokenizer->encode(c.text, SpecialText::kParse);
    const Ids as_text = tokenizer->encode(c.text, SpecialText::kAsText);
    const std::string decoded = tokenizer->decode(c.parse, SpecialTokens::kKeep);
    if (parse == c.parse && as_text == c.as_text && decoded == c.decoded) continue;
    if (++wrong > 5) continue;
    EXPECT_EQ(parse, c.parse) << nlohmann::json(c.text).dump(-1, ' ', true);
    EXPECT_EQ(as_text, c.as_text) << nlohmann::json(c.text).dump(-1, ' ', true);
    EXPECT_EQ(decoded, c.decoded) << nlohmann::json(c.text).dump(-1, ' ', true);
  }
  EXPECT_EQ(wrong, 0) << "of " << cases.size() << " strings; see tests/golden/tokenizer/manifest.json";
}

TEST_P(TokenizerGolden, StreamsTheSameTextAsDecodingAtOnce) {
  const auto tokenizer = Tokenizer::from(read_tokenizer_file(kFolder + "/" + GetParam() + "/tokenizer.json"));
  for (const Case& c : read_cases(GetParam())) {
    Detokenizer stream(*tokenizer, SpecialTokens::kSkip);
    std::string text;
    for (const std::int64_t id : c.parse) text += stream.push(id);
    text += stream.flush();
    ASSERT_EQ(text, tokenizer->decode(c.parse, SpecialTokens::kSkip)) << nlohmann::json(c.text).dump(-1, ' ', true);
  }
}

// A vocabulary that marks the beginning of a word.
TEST(DetokenizerGolden, ATextThatGoesOnKeepsItsFirstSpace) {
  const auto tokenizer = Tokenizer::from(read_tokenizer_file(kFolder + "/llama_like/tokenizer.json"));
  const Ids ids = tokenizer->encode("the end", SpecialText::kAsText);
  const auto streamed = [&](TextStart start) {
    Detokenizer stream(*tokenizer, SpecialTokens::kSkip, start);
    std::string bytes, text;
    for (const std::int64_t id : ids) {
      bytes += stream.bytes_of(id);
      text += stream.push(id);
    }
    EXPECT_EQ(bytes, text);
    return text;
  };
  EXPECT_EQ(streamed(TextStart::kNew), "the end");
  EXPECT_EQ(streamed(TextStart::kContinued), " the end");
}

INSTANTIATE_TEST_SUITE_P(Files, TokenizerGolden,
                         ::testing::Values("qwen2_like", "gpt2_like", "llama_like", "metaspace_like", "split_metaspace_like", "gemma_like",
                                           "falcon_like"));

// Ids and text of tokenizers drawn at random against the `tokenizers` library (tests/golden/tokenizer/drawn.jsonl; rebuild:
// tests/golden/make/make_drawn_tokenizer_golden.py).
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
