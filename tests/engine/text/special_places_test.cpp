// Special tokens in a text of several writers: the template's count, whatever their flags take from the words beside them; a person's do
// not.
#include "engine/text/special_places.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/text/byte_alphabet.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

using Ids = std::vector<std::int64_t>;
using nlohmann::json;

constexpr std::int64_t kPlain = 256, kLeft = 257, kRight = 258, kAlone = 259, kNormal = 260, kSuffix = 261, kOrdinary = 262;

json added(std::int64_t id, const char* content, const json& flags = json::object(), bool special = true) {
  json token = {{"id", id}, {"content", content}, {"special", special}};
  token.update(flags);
  return token;
}

json small_n() { return {{"type", "Replace"}, {"pattern", {{"String", "N"}}}, {"content", "n"}}; }

// Bytes are their own ids. `normalizer` is a step of tokenizer.json.
std::unique_ptr<Tokenizer> bytes_with(const json& normalizer) {
  json vocabulary;
  for (int b = 0; b < 256; ++b) vocabulary[ByteAlphabet::instance().text_of(static_cast<unsigned char>(b))] = b;
  const json tokens = {added(kPlain, "<s>"),
                       added(kLeft, "<l>", {{"lstrip", true}}),
                       added(kRight, "<r>", {{"rstrip", true}}),
                       added(kAlone, "<w>", {{"single_word", true}}),
                       added(kNormal, "<n>", {{"normalized", true}}),
                       added(kSuffix, "<s>x"),
                       added(kOrdinary, "[o]", {{"normalized", false}}, false)};
  const json file = {{"added_tokens", tokens},
                     {"normalizer", normalizer},
                     {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
                     {"decoder", {{"type", "ByteLevel"}}},
                     {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}};
  const test::ScratchFolder folder;
  return Tokenizer::from(read_tokenizer_file(folder.write("tokenizer.json", file.dump())));
}

constexpr SpecialText kTemplate = SpecialText::kParse;
constexpr SpecialText kPerson = SpecialText::kAsText;

Ids encoded(const Tokenizer& tokenizer, const std::vector<WrittenText>& stretches) { return tokenizer.encode(stretches, TextStart::kNew); }

TEST(SpecialPlaces, OnlyTheTemplatesTokensCount) {
  const auto tokenizer = bytes_with(nullptr);
  EXPECT_EQ(encoded(*tokenizer, {{"<s>", kTemplate}, {"a<s>", kPerson}, {"<s>", kTemplate}}), (Ids{kPlain, 'a', '<', 's', '>', kPlain}));
  EXPECT_EQ(encoded(*tokenizer, {{"[o]", kTemplate}, {"[o]", kPerson}, {"[", kTemplate}, {"o]", kPerson}}), (Ids(3, kOrdinary)))
      << "ordinary ones do everywhere";
}

TEST(SpecialPlaces, ATokenOfTwoWritersIsNoneAndHidesNone) {
  const auto tokenizer = bytes_with(nullptr);
  EXPECT_EQ(encoded(*tokenizer, {{"<", kPerson}, {"s>", kTemplate}}), (Ids{'<', 's', '>'}));
  EXPECT_EQ(encoded(*tokenizer, {{"<s", kTemplate}, {">", kPerson}}), (Ids{'<', 's', '>'}));
  EXPECT_EQ(encoded(*tokenizer, {{"<", kPerson}, {"<s>", kTemplate}}), (Ids{'<', kPlain}));
  EXPECT_EQ(encoded(*tokenizer, {{"<s>", kTemplate}, {"x", kPerson}}), (Ids{kPlain, 'x'})) << "the longer token would be partly a person's";
  EXPECT_EQ(encoded(*tokenizer, {{"<s>x", kTemplate}}), (Ids{kSuffix}));
}

TEST(SpecialPlaces, TheTemplatesTokensTakeAPersonsWhiteSpace) {
  const auto tokenizer = bytes_with(nullptr);
  EXPECT_EQ(encoded(*tokenizer, {{"<r>", kTemplate}, {" \n a  ", kPerson}, {"\n<l>", kTemplate}}), (Ids{kRight, 'a', kLeft}));
  EXPECT_EQ(encoded(*tokenizer, {{"<r>", kTemplate}, {"  ", kPerson}, {" <l>", kTemplate}}), (Ids{kRight, kLeft}));
  EXPECT_EQ(encoded(*tokenizer, {{" <r> ", kPerson}}), (Ids{' ', '<', 'r', '>', ' '}));
}

TEST(SpecialPlaces, ATokenThatStandsAloneSeesAPersonsWords) {
  const auto tokenizer = bytes_with(nullptr);
  EXPECT_EQ(encoded(*tokenizer, {{"<w>", kTemplate}, {"a", kPerson}}), (Ids{'<', 'w', '>', 'a'}));
  EXPECT_EQ(encoded(*tokenizer, {{"a ", kPerson}, {"<w>", kTemplate}, {".", kPerson}}), (Ids{'a', ' ', kAlone, '.'}));
}

TEST(SpecialPlaces, NormalizedTokensAreTheTemplatesAfterNormalising) {
  // U+00DF becomes two letters, so that places move.
  const json replace = {{"type", "Replace"}, {"pattern", {{"String", "\u00DF"}}}, {"content", "ss"}};
  const auto tokenizer = bytes_with({{"type", "Sequence"}, {"normalizers", {replace, small_n()}}});
  EXPECT_EQ(encoded(*tokenizer, {{"\u00DF<n>\u00DF", kPerson}, {"<N>", kTemplate}, {"<N>", kPerson}, {"<n>", kTemplate}}),
            (Ids{'s', 's', '<', 'n', '>', 's', 's', kNormal, '<', 'n', '>', kNormal}));
  EXPECT_EQ(encoded(*tokenizer, {{"<", kTemplate}, {"n", kPerson}, {">", kTemplate}}), (Ids{'<', 'n', '>'}));
}

// Llama 2's first files: with "Prepend" a token is looked for with the space before it.
TEST(SpecialPlaces, ANormalizedTokenMayBeginWithAPersonsSpace) {
  const auto tokenizer = bytes_with({{"type", "Prepend"}, {"prepend", " "}});
  EXPECT_EQ(encoded(*tokenizer, {{"<n>", kTemplate}, {"a ", kPerson}, {"<n>", kTemplate}, {"<n>", kTemplate}}),
            (Ids{kNormal, 'a', kNormal, '<', 'n', '>'}));
  EXPECT_EQ(encoded(*tokenizer, {{"a <n>", kPerson}, {"a", kTemplate}}), (Ids{' ', 'a', ' ', '<', 'n', '>', 'a'}));
}

TEST(SpecialPlaces, ATextEndsInAnAddedToken) {
  const auto tokenizer = bytes_with(small_n());
  for (const char* text : {"<s>", "a<r> \n", "a<N>", "[o]"}) EXPECT_TRUE(tokenizer->ends_in_added_token(text)) << text;
  for (const char* text : {"", "<s>a", "<l> ", "\xFF"}) EXPECT_FALSE(tokenizer->ends_in_added_token(text)) << text;
}

}  // namespace
}  // namespace winnow
