// Prompts against the `tokenizers` library, under every way to put a space before a text (tests/golden/tokenizer/prompts.jsonl; rebuild:
// tests/golden/make/make_prompt_golden.py).
#include "engine/generation/segment/prompt_ids.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/text/tokenizer_file.h"
#include "tests/support/drawn_tokenizers.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;
const std::string kFolder = source_folder() + "/tests/golden/tokenizer";

std::vector<TemplatePiece> pieces_of(const json& prompt) {
  std::vector<TemplatePiece> pieces;
  for (const json& piece : prompt.at("pieces")) pieces.push_back({piece[1], piece[0] == "m"});
  return pieces;
}

TEST(PromptIds, AreThoseOfTheLibraryUnderEveryNormalizerAndPreTokenizer) {
  std::ifstream base_file(kFolder + "/llama_like/tokenizer.json");
  json tokenizer_json = json::parse(base_file);
  std::ifstream file(kFolder + "/prompts.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const json head = json::parse(line);
  tokenizer_json["added_tokens"] = head.at("added_tokens");
  int tokenizers = 0;
  while (std::getline(file, line)) {
    const json entry = json::parse(line);
    tokenizer_json["normalizer"] = entry.at("normalizer");
    tokenizer_json["pre_tokenizer"] = entry.at("pre_tokenizer");
    const test::ScratchFolder folder;
    const auto tokenizer = Tokenizer::from(read_tokenizer_file(folder.write("tokenizer.json", tokenizer_json.dump())));
    ++tokenizers;
    for (std::size_t i = 0; i < head.at("prompts").size(); ++i) {
      const json& prompt = head.at("prompts")[i];
      const std::vector<TemplatePiece> pieces = pieces_of(prompt);
      const Ids expected = entry.at("prompts")[i].at("ids");
      const std::string which = entry.at("normalizer").dump() + entry.at("pre_tokenizer").dump() + prompt.dump();
      EXPECT_EQ(prompt_ids(*tokenizer, pieces, TextStart::kNew), expected) << which;
      if (!prompt.contains("behind")) continue;
      // A later turn: behind an answer that the cache holds.
      const auto unread = std::span(pieces).subspan(prompt.at("behind").get<std::size_t>());
      const Ids rest(expected.end() - entry.at("prompts")[i].at("rest").get<std::ptrdiff_t>(), expected.end());
      EXPECT_EQ(prompt_ids(*tokenizer, unread, TextStart::kContinued), rest) << which;
    }
  }
  EXPECT_EQ(tokenizers, 48);
}

// Special tokens that take white space or are looked for in normalised text were found in the template's pieces alone, one by one.
TEST(PromptIds, AreThoseOfTheLibraryUnderPublishedFlags) {
  std::ifstream file(kFolder + "/flags.jsonl");
  int tokenizers = 0;
  for (std::string line; std::getline(file, line);) {
    const json entry = json::parse(line);
    std::ifstream base(kFolder + "/" + entry.at("base").get<std::string>() + "/tokenizer.json");
    json tokenizer_json = json::parse(base);
    for (const char* part : {"added_tokens", "normalizer", "pre_tokenizer"}) tokenizer_json[part] = entry.at(part);
    const test::ScratchFolder folder;
    const auto tokenizer = Tokenizer::from(read_tokenizer_file(folder.write("tokenizer.json", tokenizer_json.dump())));
    ++tokenizers;
    for (const json& prompt : entry.at("prompts")) {
      const std::vector<TemplatePiece> pieces = pieces_of(prompt);
      const Ids expected = prompt.at("ids");
      const std::string which = entry.at("name").get<std::string>() + " " + prompt.dump();
      EXPECT_EQ(prompt_ids(*tokenizer, pieces, TextStart::kNew), expected) << which;
      if (!prompt.contains("behind")) continue;
      const auto unread = std::span(pieces).subspan(prompt.at("behind").get<std::size_t>());
      const Ids rest(expected.end() - prompt.at("rest").get<std::ptrdiff_t>(), expected.end());
      EXPECT_EQ(prompt_ids(*tokenizer, unread, TextStart::kContinued), rest) << which;
    }
  }
  EXPECT_EQ(tokenizers, 6);
}

// The same of tokenizers drawn at random (tests/golden/tokenizer/drawn.jsonl).
TEST(PromptIds, AreThoseOfTheLibraryOfDrawnTokenizers) {
  test::DrawnTokenizers drawn;
  int wrong = 0;
  while (drawn.next()) {
    for (const json& each : drawn.entry().at("chats")) {
      const auto number = each[0].get<std::size_t>();
      const std::vector<TemplatePiece> pieces = pieces_of({{"pieces", drawn.head().at("chats").at(number)}});
      const Ids expected = each[1];
      Ids rest;
      Ids expected_rest;
      if (!each[2].is_null()) {
        const std::size_t behind = drawn.head().at("behind").at(std::to_string(number));
        rest = prompt_ids(drawn.tokenizer(), std::span(pieces).subspan(behind), TextStart::kContinued);
        expected_rest.assign(expected.end() - each[2].get<std::ptrdiff_t>(), expected.end());
      }
      const Ids ids = prompt_ids(drawn.tokenizer(), pieces, TextStart::kNew);
      if ((ids == expected && rest == expected_rest) || ++wrong > 5) continue;
      const std::string which = drawn.head().at("chats").at(number).dump(-1, ' ', true) + " by " + drawn.description();
      EXPECT_EQ(ids, expected) << which;
      EXPECT_EQ(rest, expected_rest) << which;
    }
  }
  EXPECT_EQ(wrong, 0) << "see tests/golden/tokenizer/drawn_manifest.json";
}

}  // namespace
}  // namespace winnow
