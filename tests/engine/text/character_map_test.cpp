// Ids behind a character map: drawn_tokenizer_test.cpp. Here: what no library writes.
#include "engine/text/character_map.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/base/error.h"
#include "engine/text/base64.h"
#include "engine/text/utf8.h"
#include "tests/support/drawn_tokenizers.h"

namespace winnow {
namespace {

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) {
      out.push_back(i <= bytes.size() - at ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=');
    }
  }
  return out;
}

CharacterMap map_of(const std::string& base64) {
  const Json step = {{"type", "Precompiled"}, {"precompiled_charsmap", base64}};
  return CharacterMap(JsonObject(step, "tokenizer.json", "normalizer"));
}

std::string golden_table() {
  const std::string text = test::DrawnTokenizers().head().at("maps").at(0);
  return bytes_of_base64(text).value();
}

TEST(Base64, IsReadWholeOrNotAtAll) {
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string("ab"), std::string("abc"), std::string("\x00\xff\x80\x7f", 4)}) {
    EXPECT_EQ(bytes_of_base64(base64_of(bytes)), bytes);
  }
  for (const char* broken : {"a", "ab", "abc", "ab=c", "====", "ab!=", "ab c", "YQ==YQ=="})
    EXPECT_EQ(bytes_of_base64(broken), std::nullopt) << broken;
}

TEST(CharacterMap, ReplacesShortClustersWholeAndCharactersOtherwise) {
  const CharacterMap map = map_of(base64_of(golden_table()));
  EXPECT_EQ(map.apply("a\tb\r\nc"), "a b c");
  EXPECT_EQ(map.apply("e\u0301"), "\u00e9");
  EXPECT_EQ(map.apply("\u2122\u0301"), "TM") << "the shortest entry stands for the whole cluster";
  EXPECT_EQ(map.apply("x"), "ks");
  EXPECT_EQ(map.apply(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(CharacterMap, RefusesTablesThatDoNotFit) {
  const std::string table = golden_table();
  const auto refused = [](const std::string& text) {
    try {
      map_of(text).apply("\u2122 x");
    } catch (const Exception& error) {
      return error.error().code;
    }
    return static_cast<ErrorCode>(0);
  };
  EXPECT_EQ(refused("@@@"), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(base64_of(table.substr(0, 3))), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(base64_of(table.substr(0, 60))), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(base64_of(table + "\xFF")), ErrorCode::kDamagedFile) << "text that is not UTF-8";
  EXPECT_EQ(refused(base64_of(std::string("\x04\x00\x00\x00\xFF\xFF\xFF\x7F", 8))), ErrorCode::kDamagedFile) << "a root far outside";
  EXPECT_EQ(refused(std::string((8u << 20) + 4, 'A')), ErrorCode::kLimitExceeded);
}

TEST(CharacterMap, SurvivesAnyTable) {
  std::mt19937 random(11);
  const std::string table = golden_table();
  std::string text;
  for (char32_t c = 1; c < 0x3000; c += 7) utf8::append(text, c);
  for (int round = 0; round < 400; ++round) {
    std::string changed = table;
    for (int i = 0; i < 40; ++i) changed[4 + random() % (changed.size() - 4)] = static_cast<char>(random());
    try {
      EXPECT_TRUE(utf8::is_valid(map_of(base64_of(changed)).apply(text)));
    } catch (const Exception& error) {
      EXPECT_TRUE(error.error().code == ErrorCode::kDamagedFile || error.error().code == ErrorCode::kLimitExceeded);
    }
  }
}

}  // namespace
}  // namespace winnow
