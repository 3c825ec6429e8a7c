#include "engine/text/tokenizer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/detokenizer.h"
#include "engine/text/text_bounds.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

using Ids = std::vector<std::int64_t>;
using nlohmann::json;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlowBuild = true;
#else
constexpr bool kSlowBuild = false;
#endif

const std::string kQwenFolder = source_folder() + "/tests/golden/tokenizer/qwen2_like";

std::unique_ptr<Tokenizer> qwen() { return Tokenizer::from(read_tokenizer_file(kQwenFolder + "/tokenizer.json")); }

// All 256 bytes, then "ab" (256), "abc" (257), special "<s>" (258).
json small_file(const std::string& pattern = "") {
  json vocabulary;
  for (int b = 0; b < 256; ++b) vocabulary[ByteAlphabet::instance().text_of(static_cast<unsigned char>(b))] = b;
  vocabulary["ab"] = 256;
  vocabulary["abc"] = 257;
  json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  json steps = json::array();
  if (!pattern.empty()) {
    steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  steps.push_back(byte_level);
  return {{"added_tokens", {{{"id", 258}, {"content", "<s>"}, {"special", true}, {"normalized", false}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"a b", "ab c"}}}}};
}

std::unique_ptr<Tokenizer> load_text(const std::string& text) {
  const test::ScratchFolder folder;
  return Tokenizer::from(read_tokenizer_file(folder.write("tokenizer.json", text)));
}
std::unique_ptr<Tokenizer> load(const json& file) { return load_text(file.dump()); }

ErrorCode refusal(const std::string& text) {
  try {
    load_text(text);
  } catch (const Exception& error) {
    EXPECT_FALSE(error.error().subject.empty());
    EXPECT_FALSE(error.error().reason.empty());
    return error.error().code;
  }
  return static_cast<ErrorCode>(0);
}
ErrorCode refusal(const json& file) { return refusal(file.dump()); }

double seconds(const std::function<void()>& work) {
  const auto start = thread_work_time();
  work();
  return std::chrono::duration<double>(thread_work_time() - start).count();
}

TEST(Tokenizer, MergesInOrderOfRank) {
  const auto tokenizer = load(small_file());
  EXPECT_EQ(tokenizer->encode("abcab", SpecialText::kAsText), (Ids{257, 256}));
  EXPECT_EQ(tokenizer->encode("bca", SpecialText::kAsText), (Ids{'b', 'c', 'a'}));
  EXPECT_EQ(tokenizer->vocabulary_size(), 259);
}

// Whisper's of several languages has one.
TEST(Tokenizer, AnIdWithoutATextStandsForNothing) {
  json file = small_file();
  file["model"]["vocab"][""] = 300;
  const auto tokenizer = load(file);
  EXPECT_EQ(tokenizer->encode("abcab", SpecialText::kAsText), (Ids{257, 256}));
  EXPECT_EQ(tokenizer->decode(Ids{256, 300, 257}, SpecialTokens::kKeep), "ababc");
}

TEST(Tokenizer, ReadsMergesAsPairsToo) {
  json file = small_file();
  file["model"]["merges"] = json::array({{"a", "b"}, {"ab", "c"}});
  EXPECT_EQ(load(file)->encode("abcab", SpecialText::kAsText), (Ids{257, 256}));
}

TEST(Tokenizer, KeepsSpecialTokensTypedByTheUserAsText) {
  const auto tokenizer = load(small_file());
  EXPECT_EQ(tokenizer->encode("<s>", SpecialText::kAsText), (Ids{'<', 's', '>'}));
  EXPECT_EQ(tokenizer->encode("a<s>b", SpecialText::kParse), (Ids{'a', 258, 'b'}));
  EXPECT_TRUE(tokenizer->is_special(258));
  EXPECT_FALSE(tokenizer->is_special(257));
  EXPECT_FALSE(tokenizer->is_special(-1));
  EXPECT_FALSE(tokenizer->is_special(1 << 30));
  EXPECT_EQ(tokenizer->token_id("<s>"), 258);
  EXPECT_EQ(tokenizer->token_id("ab"), 256);
  EXPECT_EQ(tokenizer->token_id("nothing"), std::nullopt);
}

TEST(Tokenizer, SkipsSpecialTokensAndUnknownIdsWhenDecoding) {
  const auto tokenizer = load(small_file());
  EXPECT_EQ(tokenizer->decode(Ids{258, 257, 99999, -5}, SpecialTokens::kSkip), "abc");
  EXPECT_EQ(tokenizer->decode(Ids{258, 257}, SpecialTokens::kKeep), "<s>abc");
}

TEST(Tokenizer, RepairsBrokenUtf8BeforeEncoding) {
  const auto tokenizer = load(small_file());
  const Ids expected = tokenizer->encode(
      "a\xEF\xBF\xBD"
      "b",
      SpecialText::kAsText);
  for (const char* broken : {"a\xFF"
                             "b",
                             "a\xC3"
                             "b",
                             "a\xE2\x82"
                             "b",
                             "a\xF0\x9F\x98"
                             "b"}) {
    EXPECT_EQ(tokenizer->encode(broken, SpecialText::kAsText), expected) << broken;
  }
  // A surrogate written as three bytes is three broken bytes, as Rust and the WHATWG decoder say.
  EXPECT_EQ(tokenizer->encode("\xED\xA0\x80", SpecialText::kAsText),
            tokenizer->encode("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", SpecialText::kAsText));
}

TEST(Tokenizer, RoundTripsEveryByteSequenceThatIsUtf8) {
  const auto tokenizer = load(small_file());
  std::string text;
  for (char32_t c = 0; c < 0x3000; ++c) utf8::append(text, c);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, SpecialText::kAsText), SpecialTokens::kSkip), text);
}

TEST(Tokenizer, LooksThroughLongTextAsIfThereWereNoWindows) {
  // Words of 1..999 letters far beyond one 64 KiB window: the pieces must be the words, and nothing else.
  const auto tokenizer = load(small_file(R"(\p{L}+|\s+)"));
  std::string text;
  Ids expected;
  for (int i = 0; text.size() < 400'000; ++i) {
    const int pairs = 1 + i % 499;
    for (int k = 0; k < pairs; ++k) text += "ab";
    expected.insert(expected.end(), static_cast<std::size_t>(pairs), 256);
    text += ' ';
    expected.push_back(' ');
  }
  EXPECT_EQ(tokenizer->encode(text, SpecialText::kAsText), expected);
}

TEST(Tokenizer, FallsBackToBytesWhenThePatternExplodes) {
  const auto tokenizer = load(small_file("(a+)+$"));
  const std::string text = std::string(40, 'a') + "!";
  Ids ids;
  EXPECT_LT(seconds([&] { ids = tokenizer->encode(text, SpecialText::kAsText); }), 2.0);
  EXPECT_EQ(tokenizer->decode(ids, SpecialTokens::kSkip), text);
  EXPECT_EQ(ids.size(), text.size());
}

TEST(Tokenizer, EndsWithinTwoSecondsOnTenMillionCharacters) {
  const auto tokenizer = qwen();
  std::string cjk;
  while (cjk.size() < 10'000'000) cjk += "\xE4\xB8\xAD";
  std::string broken;
  while (broken.size() < 10'000'000) broken += "\xED\xA0\x80";
  std::string marks;
  while (marks.size() < 10'000'000) marks += "\xCC\xA3\xCC\x81";
  std::string words;
  while (words.size() < 10'000'000) words += "The red circle, 12 squares. ";
  const std::pair<const char*, std::string> inputs[] = {{"letters", std::string(10'000'000, 'a')},
                                                        {"spaces", std::string(10'000'000, ' ')},
                                                        {"dots", std::string(10'000'000, '.')},
                                                        {"newlines", std::string(10'000'000, '\n')},
                                                        {"NUL", std::string(10'000'000, '\0')},
                                                        {"digits", std::string(10'000'000, '7')},
                                                        {"CJK", cjk},
                                                        {"surrogates", broken},
                                                        {"combining marks", marks},
                                                        {"words", words}};
  for (const auto& [name, text] : inputs) {
    std::size_t tokens = 0;
    std::string refused;
    const double taken = seconds([&] {
      try {
        tokens = tokenizer->encode(text, SpecialText::kAsText).size();
      } catch (const Exception& error) {
        EXPECT_EQ(error.error().code, ErrorCode::kLimitExceeded);
        refused = error.what();
      }
    });
    RecordProperty(name, std::to_string(taken));
    if (std::getenv("WINNOW_TEST_TIMES")) std::cerr << name << " " << taken << " s, " << tokens << " tokens " << refused << "\n";
    EXPECT_TRUE(tokens > 0 || !refused.empty()) << name;
    EXPECT_LT(taken, kSlowBuild ? 20.0 : 3.0) << name;  // 2 s and what a slow machine adds
  }
}

TEST(Tokenizer, RefusesTextOverSixteenMebibytes) {
  EXPECT_THROW(qwen()->encode(std::string((16u << 20) + 1, 'a'), SpecialText::kAsText), Exception);
}

TEST(Tokenizer, BoundsTheSearchForLongAddedTokens) {
  json file = small_file();
  file["added_tokens"].push_back({{"id", 259}, {"content", std::string(4000, 'a') + "!"}, {"special", false}, {"normalized", false}});
  const auto tokenizer = load(file);
  EXPECT_LT(seconds([&] { EXPECT_THROW(tokenizer->encode(std::string(500'000, 'a'), SpecialText::kAsText), Exception); }), 20.0);
}

// Told, not applied: what `tokenizers` puts before a text with add_special_tokens.
TEST(TokenizerFile, SaysWhatItsPostProcessorPutsBeforeAText) {
  const auto prefix_of = [](const json& processor) {
    json file = small_file();
    file["post_processor"] = processor;
    const std::unique_ptr<Tokenizer> tokenizer = load(file);
    EXPECT_EQ(tokenizer->encode("ab", SpecialText::kParse), Ids{256});
    return Ids(tokenizer->prefix().begin(), tokenizer->prefix().end());
  };
  const json start = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json both = {{"type", "TemplateProcessing"}, {"single", {start, text}}};
  EXPECT_EQ(prefix_of(nullptr), Ids{});
  EXPECT_EQ(prefix_of({{"type", "ByteLevel"}}), Ids{});
  EXPECT_EQ(prefix_of(both), Ids{258});
  EXPECT_EQ(prefix_of({{"type", "TemplateProcessing"}, {"single", {text, start}}}), Ids{});
  EXPECT_EQ(prefix_of({{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, both}}}), Ids{258});
  json unknown = small_file();
  unknown["post_processor"] = {{"type", "TemplateProcessing"}, {"single", {{{"SpecialToken", {{"id", "<nobody>"}}}}, text}}};
  EXPECT_EQ(refusal(unknown.dump()), ErrorCode::kDamagedFile);
  unknown["post_processor"]["single"][0]["SpecialToken"] = 7;
  EXPECT_EQ(refusal(unknown.dump()), ErrorCode::kDamagedFile);
}

// The ids and flags are what transformers 4.57.6 and 5.2.0 make of these two files.
TEST(TokenizerFile, TheConfigurationsAddedTokensReplaceAndFollowItsOwn) {
  const test::ScratchFolder folder;
  TokenizerFile file = read_tokenizer_file(folder.write("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},
    "merges": ["a b"]}, "added_tokens": [{"id": 3, "content": "<s>", "special": true}]})"));
  const json config = {{"added_tokens_decoder",
                        {{"3", {{"content", "<s>"}, {"rstrip", true}}},
                         {"12", {{"content", "<z>"}}},
                         {"9", {{"content", "<x>"}, {"special", true}}},
                         {"2", {{"content", "ab"}, {"lstrip", true}}},
                         {"7", {{"content", "<y>"}}}}}};
  replace_added_tokens(JsonObject(config, "tokenizer_config.json", ""), file);
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const AddedToken& token : file.added_tokens) found.emplace_back(token.id, token.content);
  EXPECT_EQ(found, (std::vector<std::pair<std::int64_t, std::string>>{{3, "<s>"}, {2, "ab"}, {4, "<y>"}, {5, "<x>"}, {6, "<z>"}}));
  EXPECT_TRUE(file.added_tokens[0].rstrip && !file.added_tokens[0].special) << "what is said last counts";
  EXPECT_TRUE(file.added_tokens[1].lstrip);
  EXPECT_TRUE(file.added_tokens[3].special);
}

TEST(TokenizerFile, RefusesHostileAddedTokensOfTheConfiguration) {
  const auto refused = [](const json& decoder) {
    TokenizerFile file;
    try {
      replace_added_tokens(JsonObject(json{{"added_tokens_decoder", decoder}}, "tokenizer_config.json", ""), file);
    } catch (const Exception& error) {
      EXPECT_TRUE(error.error().subject.starts_with("tokenizer_config.json")) << error.error().subject;
      return error.error().code;
    }
    return static_cast<ErrorCode>(0);
  };
  EXPECT_EQ(refused(json::array()), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused({{"x", {{"content", "a"}}}}), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused({{"", {{"content", "a"}}}}), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused({{"1", "a"}}), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused({{"1", {{"content", ""}}}}), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused({{"1", {{"content", "a"}, {"lstrip", 1}}}}), ErrorCode::kDamagedFile);
  EXPECT_EQ(refused({{"1", {{"content", std::string(4097, 'a')}}}}), ErrorCode::kLimitExceeded);
  json many = json::object();
  for (int id = 0; id < 65'537; ++id) many[std::to_string(id)] = {{"content", std::to_string(id)}};
  EXPECT_EQ(refused(many), ErrorCode::kLimitExceeded);
}

TEST(TokenizerFile, RefusesHostileVocabularies) {
  const auto with = [](auto&& change) {
    json file = small_file();
    change(file);
    return refusal(file);
  };
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"]["zz"] = -1; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"]["zz"] = 3; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"]["zz"] = 1.5; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"]["zz"] = "7"; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"]["zz"] = 1 << 20; }), ErrorCode::kLimitExceeded);
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"]["zz"] = 18446744073709551615ull; }), ErrorCode::kLimitExceeded);
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"][std::string(4097, 'z')] = 300; }), ErrorCode::kLimitExceeded);
  EXPECT_EQ(with([](json& f) { f["model"]["vocab"] = json::object(); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["merges"].push_back("a zz"); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["merges"].push_back("b a"); }), ErrorCode::kDamagedFile);  // "ba" is no token
  EXPECT_EQ(with([](json& f) { f["model"]["merges"].push_back("ab"); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["merges"].push_back({"a", "b", "c"}); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["merges"].push_back(7); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["merges"].push_back(std::string(5000, 'a') + " " + std::string(5000, 'a')); }),
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(with([](json& f) { f["added_tokens"].push_back({{"id", 258}, {"content", "<t>"}}); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["added_tokens"].push_back({{"id", 259}, {"content", ""}}); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["added_tokens"].push_back({{"id", 7}, {"content", "<t>"}}); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["added_tokens"].push_back({{"id", -7}, {"content", "<t>"}}); }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["added_tokens"].push_back({{"id", 2'000'000'000}, {"content", "<t>"}}); }), ErrorCode::kLimitExceeded);
  EXPECT_EQ(with([](json& f) { f["added_tokens"] = "x"; }), ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](json& f) { f["model"]["unk_token"] = "<nope>"; }), ErrorCode::kDamagedFile);
}

TEST(TokenizerFile, RefusesWhatItDoesNotKnow) {
  const auto with = [](auto&& change) {
    json file = small_file();
    change(file);
    return refusal(file);
  };
  EXPECT_EQ(with([](json& f) { f["model"]["type"] = "WordPiece"; }), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(with([](json& f) { f["model"]["type"] = "WordLevel"; }), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(with([](json& f) { f["model"]["type"] = "Unigram"; }), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(with([](json& f) {
              f["model"]["vocab"] = json::array({json::array({"<unk>", 0}), json::array({"a", -1.5})});
            }),
            ErrorCode::kUnsupportedModel);
  EXPECT_EQ(with([](json& f) { f["model"]["continuing_subword_prefix"] = "##"; }), ErrorCode::kUnsupportedModel);
  for (const char* type : {"BertNormalizer", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Precompiled"}) {
    EXPECT_EQ(with([&](json& f) { f["normalizer"] = {{"type", type}}; }), ErrorCode::kUnsupportedModel) << type;
  }
  const json pattern = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}};
  EXPECT_EQ(with([&](json& f) { f["normalizer"] = pattern; }), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(with([](json& f) { f["pre_tokenizer"] = {{"type", "Metaspace"}}; }), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(with([](json& f) { f["pre_tokenizer"] = nullptr; }), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(with([](json& f) { f["decoder"] = nullptr; }), ErrorCode::kUnsupportedModel);
}

TEST(TokenizerFile, NamesTheModelThatItDoesNotKnow) {
  json file = small_file();
  file["model"]["type"] = "WordPiece";
  try {
    load(file);
    FAIL();
  } catch (const Exception& error) {
    EXPECT_NE(error.error().reason.find("WordPiece"), std::string::npos) << error.error().reason;
  }
}

TEST(Tokenizer, WritesAnUnknownCharacterBehindTheBytesOfItsNeighboursAsTheLibraryDoes) {
  const json whole = {{"model",
                       {{"type", "BPE"},
                        {"vocab", {{"?", 0}, {"<0x62>", 1}, {"a", 2}}},
                        {"merges", json::array()},
                        {"unk_token", "?"},
                        {"fuse_unk", true},
                        {"byte_fallback", true}}},
                      {"decoder", {{"type", "Sequence"}, {"decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}}}};
  EXPECT_EQ(load(whole)->encode("xbbya", SpecialText::kAsText), (Ids{1, 1, 0, 2}));
}

TEST(TokenizerFile, RefusesHostilePatterns) {
  const auto with = [](const std::string& pattern) { return refusal(small_file(pattern)); };
  EXPECT_EQ(with("(a"), ErrorCode::kDamagedFile);
  EXPECT_EQ(with("[" + std::string(1'000'000, 'x') + "]"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(with(std::string(200, '(') + std::string(200, ')')), ErrorCode::kDamagedFile);
  EXPECT_EQ(with("(((a{1000}){1000}){1000}){1000}"), ErrorCode::kDamagedFile);
  EXPECT_EQ(with("(?<=a+)b"), ErrorCode::kDamagedFile);  // a look-behind without a bound
  EXPECT_EQ(with("\\C"), ErrorCode::kDamagedFile);
}

TEST(TokenizerFile, RefusesWhatIsNotJson) {
  EXPECT_EQ(refusal(std::string()), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(std::string("{\"model\":")), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(std::string("[]")), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(small_file().dump() + "x"), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(std::string(100'000, '[')), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal(std::string(R"({"model":{"type":"BPE","vocab":{"a":0},"vocab":{"b":1}}})")), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(std::string(R"({"model":{"type":"BPE","vocab":{"a":{"b":1}}}})")), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(std::string(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[["a",["b"]]]}})")), ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(std::string((64u << 20) + 1, ' ')), ErrorCode::kLimitExceeded);
  EXPECT_THROW(read_tokenizer_file("/nonexistent/tokenizer.json"), Exception);
}

TEST(TokenizerFile, TakesByteNamesAsOrdinaryTokens) {
  json file = small_file();
  file["model"]["vocab"]["<0x-1>"] = 259;
  file["model"]["vocab"]["<0xZZ>"] = 260;
  file["model"]["byte_fallback"] = true;
  const auto tokenizer = load(file);
  EXPECT_EQ(tokenizer->decode(Ids{259, 260}, SpecialTokens::kKeep), "<0x-1><0xZZ>");
}

TEST(Detokenizer, HoldsBackHalfCharacters) {
  const auto tokenizer = load(small_file());
  Detokenizer stream(*tokenizer, SpecialTokens::kSkip);
  EXPECT_EQ(stream.push(0xE4), "");
  EXPECT_EQ(stream.push(0xB8), "");
  EXPECT_EQ(stream.push(0xAD), "\xE4\xB8\xAD");
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push('a'),
            "\xEF\xBF\xBD"
            "a");  // the character can no longer come to its end
  EXPECT_EQ(stream.push(0xC3), "");
  EXPECT_EQ(stream.push(258), "");  // special
  EXPECT_EQ(stream.flush(), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.flush(), "");
}

TEST(Tokenizer, EndsWhereItsAskerHasLeftOrHasTooManyTokens) {
  const auto tokenizer = load(small_file("\\S+|\\s+"));
  std::string words;
  for (int i = 0; i < 1000; ++i) words += "x ";
  InterruptSource asker;
  {
    const TextBounds bounds(asker.token(), 2000);
    EXPECT_EQ(tokenizer->encode(words, SpecialText::kAsText).size(), 2000U);
    EXPECT_THROW(tokenizer->encode(words + "x", SpecialText::kAsText), Exception);
    const TextBounds inside(asker.token(), 10);
    EXPECT_THROW(tokenizer->encode(words, SpecialText::kAsText), Exception);
  }
  EXPECT_EQ(tokenizer->encode(words + "x", SpecialText::kAsText).size(), 2001U) << "others have no such bound";
  const TextBounds bounds(asker.token(), 2000);
  asker.request_cancel();
  EXPECT_THROW(tokenizer->encode(words, SpecialText::kAsText), Interrupted);
}

}  // namespace
}  // namespace winnow
