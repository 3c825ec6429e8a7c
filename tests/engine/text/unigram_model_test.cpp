#include "engine/text/unigram_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

#include "engine/base/error.h"
#include "engine/text/byte_token.h"
#include "engine/text/tokenizer.h"
#include "engine/text/work_time.h"

namespace winnow {
namespace {

using Ids = std::vector<std::int64_t>;
using UnigramPieces = std::vector<std::pair<std::string, double>>;

// "<unk>" is 0, the pieces follow; then the bytes, if there are some.
TokenizerFile unigram_file(const UnigramPieces& pieces, bool with_bytes = false) {
  TokenizerFile file;
  file.path = "tokenizer.json";
  file.word_model = WordModelKind::kUnigram;
  file.unknown_token = "<unk>";
  file.byte_fallback = with_bytes;
  const auto add = [&](const std::string& text, double score) {
    file.vocabulary.emplace_back(text, std::ssize(file.vocabulary));
    file.scores.push_back(score);
  };
  add("<unk>", 0);
  for (const auto& [text, score] : pieces) add(text, score);
  for (int b = 0; with_bytes && b < 256; ++b) add(byte_token_name(static_cast<unsigned char>(b)), 0);
  file.decoder = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  return file;
}

Ids unigram_ids(const UnigramPieces& pieces, std::string_view text, bool with_bytes = false) {
  Ids ids;
  UnigramModel(unigram_file(pieces, with_bytes)).encode_word(text, ids);
  return ids;
}

TEST(UnigramModel, TakesTheHighestSumOfScores) {
  EXPECT_EQ(unigram_ids({{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"cd", 1}, {"ab", 2}, {"abc", 5}, {"abcd", 10}}, "abcdacd"),
            (Ids{8, 1, 5}));
  EXPECT_EQ(unigram_ids({{"a", -1}, {"b", -1}, {"ab", -3}}, "ab"), (Ids{1, 2}));
  EXPECT_EQ(unigram_ids({{"a", -1}}, ""), Ids{});
}

TEST(UnigramModel, KeepsTheWayFoundFirstOfEqualSums) {
  EXPECT_EQ(unigram_ids({{"a", -1}, {"b", -1}, {"ab", -2}}, "ab"), Ids{3}) << "from the left, where the longer token begins earlier";
  EXPECT_EQ(unigram_ids({{"a", -1}, {"b", -1}, {"c", -1}, {"ab", -2}, {"bc", -2}}, "abc"), (Ids{1, 5}));
}

TEST(UnigramModel, JoinsUnknownNeighbours) {
  EXPECT_EQ(unigram_ids({{"a", -1}}, "xyaz"), (Ids{0, 1, 0}));
  EXPECT_EQ(unigram_ids({{"a", -1}, {"xy", -100}}, "xya"), (Ids{2, 1}))
      << "what is unknown character by character, and a bad token as a whole";
  EXPECT_EQ(unigram_ids({{"a", -1}}, "x<unk>y"), Ids{0});
}

TEST(UnigramModel, WritesUnknownCharactersAsBytesWhereAllAreThere) {
  EXPECT_EQ(unigram_ids({{"a", -1}}, "a\u00e9", true), (Ids{1, 2 + 0xC3, 2 + 0xA9}));
  TokenizerFile file = unigram_file({{"a", -1}}, true);
  file.vocabulary[2 + 0xA9].first = "gone";
  Ids ids;
  UnigramModel(file).encode_word("x\u00e9a", ids);
  EXPECT_EQ(ids, (Ids{0, 1})) << "all of a run's bytes or none";
}

// The best of all ways, by trying each.
TEST(UnigramModel, IsNeverWorseThanAnyOtherWay) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> letter(0, 2);
  const auto word_of = [&](int length) {
    std::string word;
    for (int i = 0; i < length; ++i) word += "abc"[letter(random)];
    return word;
  };
  for (int round = 0; round < 300; ++round) {
    UnigramPieces pieces = {{"a", -3.5}, {"b", -4.25}, {"c", -2.75}};
    for (int i = 0; i < 12; ++i) {
      const std::string text = word_of(2 + letter(random));
      const bool known = std::any_of(pieces.begin(), pieces.end(), [&](const auto& piece) { return piece.first == text; });
      if (!known) pieces.emplace_back(text, -0.25 * (8 + letter(random) * 7 + i));
    }
    const std::string word = word_of(9);
    std::vector<double> best(word.size() + 1, -std::numeric_limits<double>::infinity());
    best[0] = 0;
    for (std::size_t at = 0; at < word.size(); ++at) {
      for (const auto& [text, score] : pieces) {
        if (word.compare(at, text.size(), text) == 0 && at + text.size() <= word.size()) {
          best[at + text.size()] = std::max(best[at + text.size()], best[at] + score);
        }
      }
    }
    std::string written;
    double sum = 0;
    for (const std::int64_t id : unigram_ids(pieces, word)) {
      ASSERT_GT(id, 0);
      written += pieces[static_cast<std::size_t>(id - 1)].first;
      sum += pieces[static_cast<std::size_t>(id - 1)].second;
    }
    EXPECT_EQ(written, word);
    EXPECT_DOUBLE_EQ(sum, best.back());
  }
}

TEST(UnigramModel, EndsWithinTwoSecondsOnMillionsOfCharacters) {
  UnigramPieces pieces;
  for (std::size_t length = 1; length <= 2000; length += 3) pieces.emplace_back(std::string(length, 'a'), -static_cast<double>(length));
  const auto tokenizer = Tokenizer::from(unigram_file(pieces, true));
  for (const char* unit : {"a", "x", "\u4e2d", "a\u00e9"}) {
    std::string text;
    while (text.size() < 8'000'000) text += unit;
    const auto start = thread_work_time();
    try {
      EXPECT_FALSE(tokenizer->encode(text, SpecialText::kAsText).empty());
    } catch (const Exception& error) {
      EXPECT_EQ(error.error().code, ErrorCode::kLimitExceeded);
    }
    EXPECT_LT(std::chrono::duration<double>(thread_work_time() - start).count(), 20.0) << unit;
  }
}

TEST(UnigramModel, RefusesScoresAndTokensThatDoNotFit) {
  const auto refused = [](auto&& change) {
    TokenizerFile file = unigram_file({{"a", -1}, {"b", -2}});
    change(file);
    try {
      Tokenizer::from(file);
    } catch (const Exception& error) {
      return error.error().code;
    }
    return static_cast<ErrorCode>(0);
  };
  EXPECT_EQ(refused([](TokenizerFile&) {}), static_cast<ErrorCode>(0));
  EXPECT_EQ(refused([](TokenizerFile& f) { f.scores.pop_back(); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused([](TokenizerFile& f) { f.scores[1] = std::numeric_limits<double>::quiet_NaN(); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused([](TokenizerFile& f) { f.vocabulary[1].first = "b"; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused([](TokenizerFile& f) { f.vocabulary[1].second = 2; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused([](TokenizerFile& f) { f.unknown_token = "nobody"; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused([](TokenizerFile& f) { f.decoder = {{"type", "ByteLevel"}}; }), ErrorCode::kUnsupportedModel);
}

}  // namespace
}  // namespace winnow
