#include "engine/model_files/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/model_files/gguf_pre_tokenizers.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/tokenizer.h"

namespace winnow {
namespace {

using Ids = std::vector<std::int64_t>;

void add(GgufVocabulary& vocabulary, const std::string& text, std::int32_t type, float score = 0) {
  vocabulary.tokens.push_back(text);
  vocabulary.types.push_back(type);
  vocabulary.scores.push_back(score);
}

// <unk> 0, <s> 1, </s> 2, bytes 3..258, U+2581 259, a 260, b 261, U+2581a 262.
GgufVocabulary sentence_piece() {
  GgufVocabulary vocabulary;
  vocabulary.path = "m.gguf";
  vocabulary.model = "llama";
  vocabulary.unknown = 0;
  vocabulary.bos = 1;
  vocabulary.eos = 2;
  add(vocabulary, "<unk>", 2);
  add(vocabulary, "<s>", 3);
  add(vocabulary, "</s>", 3);
  for (int b = 0; b < 256; ++b) add(vocabulary, byte_token_name(static_cast<unsigned char>(b)), 6);
  add(vocabulary, "\u2581", 1, -3);
  add(vocabulary, "a", 1, -4);
  add(vocabulary, "b", 1, -5);
  add(vocabulary, "\u2581a", 1, -1);
  return vocabulary;
}

// All 256 bytes, "ab" 256, control "<s>" 257, user defined "[tool]" 258, unused "abab" 259.
GgufVocabulary byte_level(const std::string& pre = "gpt-2") {
  GgufVocabulary vocabulary;
  vocabulary.path = "m.gguf";
  vocabulary.model = "gpt2";
  vocabulary.pre = pre;
  for (int b = 0; b < 256; ++b) add(vocabulary, ByteAlphabet::instance().text_of(static_cast<unsigned char>(b)), 1);
  add(vocabulary, "ab", 1);
  add(vocabulary, "<s>", 3);
  add(vocabulary, "[tool]", 4);
  add(vocabulary, "abab", 5);
  vocabulary.scores.clear();
  vocabulary.merges = {"a b"};
  return vocabulary;
}

Error refusal(const GgufVocabulary& vocabulary) {
  try {
    Tokenizer::from(tokenizer_of(vocabulary));
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().subject, "m.gguf");
    return exception.error();
  }
  return {static_cast<ErrorCode>(0), "", ""};
}

template <typename Change>
Error refused(GgufVocabulary vocabulary, Change change) {
  change(vocabulary);
  return refusal(vocabulary);
}

TEST(GgufTokenizer, TakesByteLevelVocabularies) {
  const auto tokenizer = Tokenizer::from(tokenizer_of(byte_level()));
  EXPECT_EQ(tokenizer->encode("abab", SpecialText::kAsText), (Ids{256, 256})) << "an unused token is never written";
  EXPECT_EQ(tokenizer->encode("<s>", SpecialText::kAsText), (Ids{'<', 's', '>'}));
  EXPECT_EQ(tokenizer->encode("<s>", SpecialText::kParse), (Ids{257}));
  EXPECT_EQ(tokenizer->encode("a[tool]", SpecialText::kAsText), (Ids{'a', 258})) << "a user defined token is found in any text";
  EXPECT_TRUE(tokenizer->is_special(257));
  EXPECT_FALSE(tokenizer->is_special(258));
  EXPECT_EQ(tokenizer->decode(Ids{259, 258}, SpecialTokens::kSkip), "abab[tool]");
  EXPECT_EQ(tokenizer->vocabulary_size(), 260);
}

TEST(GgufTokenizer, TakesTypesThatAreNotThereAsNormal) {
  GgufVocabulary vocabulary = byte_level();
  vocabulary.types.clear();
  EXPECT_EQ(Tokenizer::from(tokenizer_of(vocabulary))->encode("[tool]", SpecialText::kParse), (Ids{'[', 't', 'o', 'o', 'l', ']'}));
}

TEST(GgufTokenizer, SplitsAsTheNamedPreTokenizerDoes) {
  // With the merge of two digits it shows which of them are in one word.
  const auto digits = [](const std::string& pre) {
    GgufVocabulary vocabulary = byte_level(pre);
    add(vocabulary, "11", 1);
    add(vocabulary, "1111", 1);
    vocabulary.scores.clear();
    vocabulary.merges = {"1 1", "11 11"};
    return Tokenizer::from(tokenizer_of(vocabulary))->encode("1111", SpecialText::kAsText);
  };
  EXPECT_EQ(digits("gpt-2"), (Ids{261}));
  EXPECT_EQ(digits("smollm"), (Ids{'1', '1', '1', '1'}));
  EXPECT_EQ(digits("qwen2"), (Ids{'1', '1', '1', '1'}));
  EXPECT_EQ(digits("dbrx"), (Ids{260, '1', '1'}));  // three, and one
  EXPECT_EQ(digits(""), digits("default"));
}

TEST(GgufTokenizer, TakesAWholeWordWhereThePreTokenizerSaysSo) {
  const auto word = [](const std::string& pre) {
    GgufVocabulary vocabulary = byte_level(pre);
    add(vocabulary, "xyz", 1);  // no merge makes it
    vocabulary.scores.clear();
    return Tokenizer::from(tokenizer_of(vocabulary))->encode("xyz", SpecialText::kAsText);
  };
  EXPECT_EQ(word("llama-bpe"), (Ids{260}));
  EXPECT_EQ(word("dbrx"), (Ids{'x', 'y', 'z'}));
}

TEST(GgufTokenizer, FindsEveryNameOfItsTable) {
  for (const char* name :
       {"",          "default",          "gpt-2",        "smollm",         "llama-bpe",   "llama3", "llama-v3",  "qwen2",
        "qwen35",    "deepseek-r1-qwen", "deepseek-llm", "deepseek-coder", "deepseek-v3", "falcon", "starcoder", "refact",
        "command-r", "tekken",           "stablelm2",    "olmo",           "dbrx",        "phi-2",  "mpt",       "codeshell",
        "gpt-4o",    "viking",           "tiny_aya",     "bailingmoe",     "seed-coder",  "laguna", "minicpm5",  "a.x-4.0"}) {
    EXPECT_NE(gguf_pre_tokenizer(name), nullptr) << name;
    EXPECT_EQ(refusal(byte_level(name)).reason, "") << name;  // its patterns are valid
  }
  EXPECT_EQ(gguf_pre_tokenizer("zzz"), nullptr);
}

TEST(GgufTokenizer, RefusesPreTokenizersAndModelsByName) {
  EXPECT_EQ(refusal(byte_level("gpt-7")).code, ErrorCode::kUnsupportedModel);
  EXPECT_EQ(refusal(byte_level("gpt-7")).reason, "the pre-tokenizer \"gpt-7\" is not supported");
  const Error model = refused(byte_level(), [](GgufVocabulary& v) { v.model = "t5"; });
  EXPECT_EQ(model.code, ErrorCode::kUnsupportedModel);
  EXPECT_EQ(model.reason, "the tokenizer model \"t5\" is not supported");
  EXPECT_EQ(refusal(byte_level(std::string(1'000'000, 'x'))).reason,
            "the pre-tokenizer \"" + std::string(128, 'x') + "...\" is not supported");
  EXPECT_EQ(refusal(byte_level("a\n\xFF")).reason, "the pre-tokenizer \"a?\xEF\xBF\xBD\" is not supported");
}

TEST(GgufTokenizer, TakesSentencePieceVocabularies) {
  const auto tokenizer = Tokenizer::from(tokenizer_of(sentence_piece()));
  EXPECT_EQ(tokenizer->encode("a ab", SpecialText::kAsText), (Ids{262, 262, 261}));
  EXPECT_EQ(tokenizer->encode("</s>", SpecialText::kAsText), (Ids{259, 3 + '<', 3 + '/', 3 + 's', 3 + '>'}));
  EXPECT_EQ(tokenizer->encode("</s>", SpecialText::kParse), (Ids{2}));
  EXPECT_EQ(tokenizer->encode("<unk>", SpecialText::kParse), (Ids{0}));
  EXPECT_TRUE(tokenizer->is_special(0));
  EXPECT_EQ(tokenizer->encode("<0x61>", SpecialText::kParse).front(), 259) << "the name of a byte is text";
  EXPECT_EQ(tokenizer->decode(Ids{1, 262, 262}, SpecialTokens::kSkip), "a a");
}

// No field of the file says so; llama.cpp goes by the name, too.
TEST(GgufTokenizer, Phi3sSpecialTokensTakeTheWhiteSpaceBehindThem) {
  GgufVocabulary vocabulary = sentence_piece();
  add(vocabulary, "<|end|>", 3);
  add(vocabulary, "<|endoftext|>", 3);
  const auto ids = [&](const char* name, const char* text) {
    vocabulary.name = name;
    return Tokenizer::from(tokenizer_of(vocabulary))->encode(text, SpecialText::kParse);
  };
  for (const char* name : {"Phi-3-mini-4k-instruct", "phi3", "Phi 3.5 Mini Instruct"}) {
    EXPECT_EQ(ids(name, "<|end|> \na"), (Ids{263, 262})) << name;
    EXPECT_EQ(ids(name, "</s>  a"), (Ids{2, 262})) << name;
    EXPECT_EQ(ids(name, "<s> a"), (Ids{1, 259, 262})) << name;
    EXPECT_EQ(ids(name, "<|endoftext|> a"), (Ids{264, 259, 262})) << name;
  }
  EXPECT_EQ(ids("Llama 3", "<|end|> a"), (Ids{263, 259, 262}));
}

TEST(GgufTokenizer, TakesMergesOverCharacters) {
  GgufVocabulary vocabulary = sentence_piece();
  vocabulary.model = "gemma4";
  vocabulary.merges = {"\u2581 a"};
  const auto tokenizer = Tokenizer::from(tokenizer_of(vocabulary));
  EXPECT_EQ(tokenizer->encode("a a\u00e9", SpecialText::kAsText), (Ids{260, 262, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(tokenizer->decode(Ids{262, 3 + 0xC3, 3 + 0xA9}, SpecialTokens::kSkip), " a\u00e9");
  EXPECT_EQ(refused(vocabulary, [](GgufVocabulary& v) { v.merges.push_back("a b"); }).code, ErrorCode::kDamagedFile);
}

TEST(GgufTokenizer, LeavesTheSpacePrefixOutWhereTheFileSaysSo) {
  GgufVocabulary vocabulary = sentence_piece();
  vocabulary.add_space_prefix = false;
  const auto tokenizer = Tokenizer::from(tokenizer_of(vocabulary));
  EXPECT_EQ(tokenizer->encode("a a", SpecialText::kAsText), (Ids{260, 262}));
  EXPECT_EQ(tokenizer->decode(Ids{262, 260}, SpecialTokens::kSkip), " aa");
}

TEST(GgufTokenizer, RefusesArraysThatDoNotFit) {
  EXPECT_EQ(refused(byte_level(), [](GgufVocabulary& v) { v.types.pop_back(); }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(byte_level(), [](GgufVocabulary& v) { v.tokens.clear(); }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.scores.pop_back(); }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.scores.push_back(0); }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.types.clear(); }).reason, "has 0 token types for 263 tokens");
}

TEST(GgufTokenizer, RefusesHostileTokens) {
  const auto token = [](const std::string& text) { return [text](GgufVocabulary& v) { add(v, text, 1); }; };
  EXPECT_EQ(refused(sentence_piece(), token(std::string(4097, 'x'))).code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(refused(sentence_piece(), token("\xC3")).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(sentence_piece(), token("a")).reason, "token 263 occurs twice");
  EXPECT_EQ(refused(byte_level(), token("ab")).code, ErrorCode::kDamagedFile);
  const Error untyped = refused(sentence_piece(), [](GgufVocabulary& v) { std::ranges::fill(v.types, 0); });
  EXPECT_EQ(untyped.code, ErrorCode::kDamagedFile);
  EXPECT_TRUE(untyped.reason.starts_with("says of no token what it is (tokenizer.ggml.token_type is 0 throughout)")) << untyped.reason;
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.types.back() = 7; }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.types.back() = -1; }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.types.back() = 6; }).reason, "token 262 is called a byte and is none");
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.scores.back() = std::nanf(""); }).reason,
            "the score of token 262 is not a number");
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.scores.back() = -std::numeric_limits<float>::infinity(); }).code,
            ErrorCode::kDamagedFile);
  // Too much text in all, and too many tokens that are looked for.
  EXPECT_EQ(refused(sentence_piece(),
                    [](GgufVocabulary& v) {
                      for (int i = 0; i < (64 << 20) / 4000 + 1; ++i) add(v, std::to_string(i) + std::string(4000, 'x'), 1);
                    })
                .reason,
            "tokens of more than 64 MiB");
  EXPECT_EQ(refused(sentence_piece(),
                    [](GgufVocabulary& v) {
                      for (int i = 0; i < 65'536; ++i) add(v, "<c" + std::to_string(i) + ">", 3);
                    })
                .code,
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.tokens.resize((1 << 20) + 1); }).code, ErrorCode::kLimitExceeded);
}

TEST(GgufTokenizer, RefusesHostileMerges) {
  const auto merge = [](const std::string& text) { return [text](GgufVocabulary& v) { v.merges.push_back(text); }; };
  for (const char* text : {"", " ", "ab", "a ", " b", "a b c", "a  b"}) {
    EXPECT_EQ(refused(byte_level(), merge(text)).reason, "merge 1 is not a pair") << text;
  }
  EXPECT_EQ(refused(byte_level(), merge("b a")).code, ErrorCode::kDamagedFile);  // "ba" is no token
  EXPECT_EQ(refused(byte_level(), merge("zz b")).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(byte_level(), merge("ab ab")).code, ErrorCode::kDamagedFile);  // unused tokens come out of no merge
  EXPECT_EQ(refused(byte_level(), merge(std::string(9000, 'a'))).code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(refused(byte_level(), [](GgufVocabulary& v) { v.merges.assign(1'000'001, "a b"); }).code, ErrorCode::kLimitExceeded);
}

TEST(GgufTokenizer, RefusesSpecialIdsOutside) {
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.unknown = 263; }).reason, "unknown_token_id is not in the vocabulary");
  EXPECT_EQ(refused(sentence_piece(), [](GgufVocabulary& v) { v.bos = -1; }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refused(byte_level(), [](GgufVocabulary& v) { v.eos = std::int64_t{1} << 40; }).code, ErrorCode::kDamagedFile);
}

TEST(GgufTokenizer, NeedsATokenForWhatIsNotKnown) {
  const auto without_a_byte = [](GgufVocabulary& v) {
    v.types[3] = 5;
    v.tokens[3] = "gone";
  };
  EXPECT_EQ(refused(sentence_piece(), without_a_byte).reason, "") << "there is <unk>";
  EXPECT_EQ(refused(sentence_piece(),
                    [&](GgufVocabulary& v) {
                      without_a_byte(v);
                      v.unknown.reset();
                    })
                .code,
            ErrorCode::kDamagedFile);
}

TEST(GgufTokenizer, LetsIdsWithoutTextBe) {
  GgufVocabulary vocabulary = sentence_piece();
  add(vocabulary, "", 1);
  add(vocabulary, "", 3);
  add(vocabulary, "\u2581b", 1, -2);
  const auto tokenizer = Tokenizer::from(tokenizer_of(vocabulary));
  EXPECT_EQ(tokenizer->encode("b", SpecialText::kAsText), (Ids{265}));
  EXPECT_EQ(tokenizer->decode(Ids{263, 264, 265}, SpecialTokens::kKeep), "b");
}

}  // namespace
}  // namespace winnow
