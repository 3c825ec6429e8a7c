#include "engine/text/spm_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "engine/base/error.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/detokenizer.h"
#include "engine/text/text_bounds.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

using Ids = std::vector<std::int64_t>;
using Pieces = std::vector<std::pair<std::string, float>>;

const std::string kSpace = "\u2581";

enum class Prefix { kNo, kYes };
enum class Bytes { kNone, kAll };

// <unk> 0, <s> 1 (special), [tool] 2 (not special), bytes 3..258, then the pieces.
TokenizerFile file_of(const Pieces& pieces, Prefix prefix = Prefix::kNo, Bytes bytes = Bytes::kAll) {
  TokenizerFile file;
  file.path = "tiny";
  file.word_model = WordModelKind::kScoredMerges;
  file.unknown_token = "<unk>";
  file.added_tokens = {{0, "<unk>", true}, {1, "<s>", true}, {2, "[tool]", false}};
  for (int b = 0; bytes == Bytes::kAll && b < 256; ++b) {
    file.unmerged.emplace_back(byte_token_name(static_cast<unsigned char>(b)), 3 + b);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    file.vocabulary.emplace_back(pieces[i].first, 259 + static_cast<std::int64_t>(i));
    file.scores.push_back(pieces[i].second);
  }
  Json steps = Json::array();
  if (prefix == Prefix::kYes) steps.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpace}});
  file.normalizer = {{"type", "Sequence"}, {"normalizers", steps}};
  Json decoders = Json::array(
      {{{"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}}, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
  if (prefix == Prefix::kYes) decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  file.decoder = {{"type", "Sequence"}, {"decoders", decoders}};
  return file;
}

std::unique_ptr<Tokenizer> tokenizer_with(const Pieces& pieces, Prefix prefix = Prefix::kNo, Bytes bytes = Bytes::kAll) {
  return Tokenizer::from(file_of(pieces, prefix, bytes));
}

Ids ids_of(const Pieces& pieces, const std::string& text) { return tokenizer_with(pieces)->encode(text, SpecialText::kAsText); }

TEST(SpmModel, MergesTheHighestScoreFirst) {
  // a 259, b 260, c 261, ab 262, bc 263
  EXPECT_EQ(ids_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -2}, {"bc", -1}}, "abc"), (Ids{259, 263}));
  EXPECT_EQ(ids_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1}, {"bc", -2}}, "abc"), (Ids{262, 261}));
}

TEST(SpmModel, TakesTheLeftmostOfEqualScores) {
  EXPECT_EQ(ids_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1}, {"bc", -1}}, "abc"), (Ids{262, 261}));
  EXPECT_EQ(ids_of({{"a", -9}, {"aa", -1}}, "aaaaa"), (Ids{260, 260, 259}));
}

TEST(SpmModel, MergesWhatWasMerged) {
  // "abc" comes of a and bc, whatever its own score: only neighbours compete.
  EXPECT_EQ(ids_of({{"a", -9}, {"b", -9}, {"c", -9}, {"bc", -1}, {"abc", -8}}, "abc"), (Ids{263}));
  // No way leads to "abcd" without a token on the way.
  EXPECT_EQ(ids_of({{"a", -9}, {"b", -9}, {"c", -9}, {"d", -9}, {"abcd", -1}}, "abcd"), (Ids{259, 260, 261, 262}));
}

TEST(SpmModel, MergesCharactersThatAreNoTokens) { EXPECT_EQ(ids_of({{"xy", -1}}, "xy"), (Ids{259})); }

TEST(SpmModel, FallsBackToBytes) {
  EXPECT_EQ(ids_of({{"a", -1}}, "a\u00e9"), (Ids{259, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(ids_of({{"a", -1}}, "\n"), (Ids{3 + '\n'}));
  const auto tokenizer = tokenizer_with({{"a", -1}});
  EXPECT_EQ(tokenizer->decode(Ids{3 + 0xC3, 3 + 0xA9, 259}, SpecialTokens::kKeep), "\u00e9a");
  EXPECT_EQ(tokenizer->decode(Ids{3 + 0xC3, 259}, SpecialTokens::kKeep), "\uFFFDa");
}

TEST(SpmModel, WritesTheUnknownTokenOnceForARunWithoutBytes) {
  const auto tokenizer = tokenizer_with({{"a", -1}}, Prefix::kNo, Bytes::kNone);
  EXPECT_EQ(tokenizer->encode("xyaz\u00e9", SpecialText::kAsText), (Ids{0, 259, 0}));
}

TEST(SpmModel, PutsASpaceBeforeEveryStretchOfText) {
  // a 259, U+2581 260, U+2581a 261
  const auto tokenizer = tokenizer_with({{"a", -9}, {kSpace, -9}, {kSpace + "a", -1}}, Prefix::kYes);
  EXPECT_EQ(tokenizer->encode("a a", SpecialText::kParse), (Ids{261, 261}));
  EXPECT_EQ(tokenizer->encode(" a", SpecialText::kParse), (Ids{260, 261}));
  EXPECT_EQ(tokenizer->encode("<s>a<s>", SpecialText::kParse), (Ids{1, 261, 1}));
  EXPECT_EQ(tokenizer->encode("a[tool]a", SpecialText::kAsText), (Ids{261, 2, 261}));
  EXPECT_EQ(tokenizer->encode("", SpecialText::kParse), (Ids{}));
}

TEST(SpmModel, PutsNoneBeforeTextThatGoesOn) {
  const auto tokenizer = tokenizer_with({{"a", -9}, {kSpace, -9}, {kSpace + "a", -1}}, Prefix::kYes);
  EXPECT_EQ(tokenizer->encode("a a", SpecialText::kParse, TextStart::kContinued), (Ids{259, 261}));
  EXPECT_EQ(tokenizer->encode("a<s>a", SpecialText::kParse, TextStart::kContinued), (Ids{259, 1, 261}));
  EXPECT_EQ(tokenizer->encode("<s>a", SpecialText::kParse, TextStart::kContinued), (Ids{1, 261}));
}

TEST(SpmModel, KeepsSpecialTokensTypedByTheUserAsText) {
  const auto tokenizer = tokenizer_with({{"<", -9}, {"s", -9}, {">", -9}, {"<s", -1}});
  EXPECT_EQ(tokenizer->encode("<s>", SpecialText::kAsText), (Ids{262, 261}));
  EXPECT_EQ(tokenizer->encode("<s>", SpecialText::kParse), (Ids{1}));
}

TEST(SpmModel, ShowsAnAnswerWithoutTheSpaceOfItsFirstWord) {
  const auto tokenizer = tokenizer_with({{"a", -9}, {kSpace, -9}, {kSpace + "a", -1}}, Prefix::kYes);
  const auto streamed = [&](const Ids& ids, SpecialTokens specials) {
    Detokenizer stream(*tokenizer, specials);
    std::string text;
    for (const std::int64_t id : ids) text += stream.push(id);
    text += stream.flush();
    EXPECT_EQ(text, tokenizer->decode(ids, specials));
    return text;
  };
  EXPECT_EQ(streamed({261, 261, 259}, SpecialTokens::kSkip), "a aa");
  EXPECT_EQ(streamed({1, 261, 1, 261}, SpecialTokens::kSkip), "a a");
  EXPECT_EQ(streamed({1, 261}, SpecialTokens::kKeep), "<s> a");
  EXPECT_EQ(streamed({259, 261}, SpecialTokens::kSkip), "a a");
  EXPECT_EQ(streamed({260, 261}, SpecialTokens::kSkip), " a");
  EXPECT_EQ(streamed({3 + ' ', 259}, SpecialTokens::kSkip), "a");
  // What is shown is read again as what was written.
  EXPECT_EQ(tokenizer->encode("a aa", SpecialText::kAsText), (Ids{261, 261, 259}));
}

TEST(SpmModel, GivesWhatTryingEveryNeighbourGives) {
  // The definition, in quadratic time and without cutting into words, on random vocabularies of a few characters.
  std::mt19937 random(20261124);
  const std::string letters[] = {"a", "b", "\u00e9", kSpace, "x"};  // x is no token
  for (int round = 0; round < 60; ++round) {
    Pieces pieces;
    for (std::size_t i = 0; i < 4; ++i) pieces.emplace_back(letters[i], -50.0f);
    for (int i = 0; i < 40; ++i) {
      std::string text;
      for (unsigned length = 2 + random() % 4; length > 0; --length) text += letters[random() % 4];
      const bool known = std::any_of(pieces.begin(), pieces.end(), [&](const auto& piece) { return piece.first == text; });
      if (!known) pieces.emplace_back(text, -static_cast<float>(random() % 20));
    }
    const auto tokenizer = tokenizer_with(pieces);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<std::string> symbols;
      std::string text;
      for (unsigned length = random() % 60; length > 0; --length) text += symbols.emplace_back(letters[random() % 5]);
      const auto find = [&](const std::string& piece) {
        return std::find_if(pieces.begin(), pieces.end(), [&](const auto& each) { return each.first == piece; });
      };
      for (;;) {
        std::size_t best = symbols.size();
        float score = 0;
        for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
          const auto piece = find(symbols[i] + symbols[i + 1]);
          if (piece == pieces.end() || (best < symbols.size() && piece->second <= score)) continue;
          best = i;
          score = piece->second;
        }
        if (best == symbols.size()) break;
        symbols[best] += symbols[best + 1];
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      }
      Ids expected;
      for (const std::string& symbol : symbols) expected.push_back(symbol == "x" ? 3 + 'x' : 259 + (find(symbol) - pieces.begin()));
      ASSERT_EQ(tokenizer->encode(text, SpecialText::kAsText), expected) << text;
    }
  }
}

TEST(SpmModel, EndsWithinTwoSecondsOnMillionsOfCharacters) {
  const auto tokenizer = tokenizer_with({{"a", -9}, {kSpace, -9}, {"aa", -1}, {"aaaa", -2}, {kSpace + "a", -3}}, Prefix::kYes);
  std::string words;
  while (words.size() < 4'000'000) words += "a aa \u4e2d ";
  for (const std::string& text : {std::string(4'000'000, 'a'), std::string(4'000'000, ' '), words, std::string(16u << 20, 'z')}) {
    const auto start = thread_work_time();
    try {
      EXPECT_FALSE(tokenizer->encode(text, SpecialText::kAsText).empty());
    } catch (const Exception& error) {
      EXPECT_EQ(error.error().code, ErrorCode::kLimitExceeded);
    }
    EXPECT_LT(thread_work_time() - start, std::chrono::seconds(20));  // 2 s and what a slow machine and a sanitizer add
  }
}

TEST(SpmModel, RefusesScoresAndTokensThatDoNotFit) {
  const auto refusal = [](auto&& change) {
    TokenizerFile file = file_of({{"a", -1}, {"b", -2}});
    change(file);
    try {
      Tokenizer::from(std::move(file));
    } catch (const Exception& exception) {
      return exception.error().code;
    }
    return static_cast<ErrorCode>(0);
  };
  EXPECT_EQ(refusal([](TokenizerFile&) {}), static_cast<ErrorCode>(0));
  EXPECT_EQ(refusal([](TokenizerFile& f) { f.scores.pop_back(); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal([](TokenizerFile& f) { f.scores[1] = std::numeric_limits<float>::quiet_NaN(); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal([](TokenizerFile& f) { f.vocabulary[1].first = "a"; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal([](TokenizerFile& f) { f.vocabulary[1].second = 259; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal([](TokenizerFile& f) { f.vocabulary[1].second = 7; }), ErrorCode::kDamagedFile);  // a byte has it
  EXPECT_EQ(refusal([](TokenizerFile& f) { f.unmerged.pop_back(); }), static_cast<ErrorCode>(0));     // there is <unk>
  EXPECT_EQ(refusal([](TokenizerFile& f) {
              f.unmerged.pop_back();
              f.unknown_token.clear();
            }),
            ErrorCode::kDamagedFile);
}

}  // namespace
}  // namespace winnow
