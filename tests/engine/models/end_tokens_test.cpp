// Which tokens end an answer, from generation_config.json, config.json, the tokenizer and the templates.
#include "engine/models/config/end_tokens.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "engine/model_files/hugging_face_folder.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

constexpr std::int64_t kEndOfText = 330;
constexpr std::int64_t kEndOfMessage = 332;
constexpr std::int64_t kEndOfUtterance = 335;
constexpr std::int64_t kVocabulary = 400;

const std::string kTokenizer = source_folder() + "/tests/golden/smolvlm/smolvlm2_split/model/tokenizer.json";

class EndTokens : public ::testing::Test {
 protected:
  std::set<std::int64_t> read(const std::string& text, TemplateFrom from, const std::string& tokenizer = kTokenizer) {
    folder_.write("generation_config.json", text);
    return read_end_tokens(HuggingFaceFolder(folder_.path()), *Tokenizer::from(read_tokenizer_file(tokenizer)), kVocabulary,
                           {"", "", from});
  }
  // With other names for the tokens that end a turn.
  std::string without_end_tokens() {
    std::ifstream file(kTokenizer);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const std::string name : {"<|endoftext|>", "<|im_end|>", "<end_of_utterance>"}) {
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text[at] = '[';
    }
    return folder_.write("tokenizer.json", text);
  }
  const test::ScratchFolder folder_;
};

TEST_F(EndTokens, AreThoseOfTheFile) {
  EXPECT_EQ(read(R"({"eos_token_id": 7})", TemplateFrom::kFiles), std::set<std::int64_t>{7});
  EXPECT_EQ(read(R"({"eos_token_id": [7, 9, 7]})", TemplateFrom::kFiles), (std::set<std::int64_t>{7, 9}));
}

TEST_F(EndTokens, AreTheFamiliesOwnWhereTheFileNamesNone) {
  EXPECT_EQ(read("{}", TemplateFrom::kFiles), (std::set<std::int64_t>{kEndOfText, kEndOfMessage, kEndOfUtterance}));
}

TEST_F(EndTokens, AreBothWhereTheTemplateIsTheFamilys) {
  EXPECT_EQ(read(R"({"eos_token_id": 7})", TemplateFrom::kFamily), (std::set<std::int64_t>{7, kEndOfText, kEndOfMessage, kEndOfUtterance}));
}

TEST_F(EndTokens, AModelWithoutAnyIsRefused) {
  test::expect_error(ErrorCode::kDamagedFile, "eos_token_id", [&] { read("{}", TemplateFrom::kFiles, without_end_tokens()); });
}

TEST_F(EndTokens, AnIdOutsideTheVocabularyIsRefused) {
  test::expect_error(ErrorCode::kLimitExceeded, "eos_token_id", [&] { read(R"({"eos_token_id": 400})", TemplateFrom::kFiles); });
}

// A folder without generation_config.json. In config.json <N> is the id of the Nth of its tokens.
struct FolderWithoutGeneration {
  const char* name;
  std::string config;
  std::vector<std::string> tokens;
  std::string eos;      // of tokenizer_config.json
  std::string written;  // by the template, behind an answer
  std::set<std::string> ends;
};

const std::vector<FolderWithoutGeneration> kFolders = {
    {"a Llama", R"({"eos_token_id": <1>})", {"</s>", "<|end|>"}, "", "", {"<|end|>"}},
    {"with a list",
     R"({"eos_token_id": [<0>, <2>]})",
     {"<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"},
     "",
     "",
     {"<|end_of_text|>", "<|eot_id|>"}},
    {"Llama 3, whose template ends turns otherwise",
     R"({"eos_token_id": <0>})",
     {"<|end_of_text|>", "<|eot_id|>"},
     "",
     "<|eot_id|>",
     {"<|end_of_text|>", "<|eot_id|>"}},
    {"Gemma", R"({"eos_token_id": <0>})", {"<eos>", "<end_of_turn>", "</s>"}, "<eos>", "<end_of_turn>\n", {"<eos>", "<end_of_turn>"}},
    {"Gemma 4", R"({"text_config": {"eos_token_id": <0>}})", {"<eos>", "<turn|>"}, "<eos>", "<turn|>\n", {"<eos>", "<turn|>"}},
    {"Phi-3", R"({"eos_token_id": <0>})", {"<|endoftext|>", "<|end|>", "</s>"}, "<|endoftext|>", "<|end|>\n", {"<|endoftext|>", "<|end|>"}},
    {"Qwen2.5-VL as saved", R"({"text_config": {"eos_token_id": <0>}})", {"<|im_end|>", "<|endoftext|>"}, "", "", {"<|im_end|>"}},
    {"what the whole says counts before its text model",
     R"({"eos_token_id": <1>, "text_config": {"eos_token_id": 2}})",
     {"</s>", "<end_of_utterance>"},
     "",
     "",
     {"<end_of_utterance>"}},
    {"null says nothing", R"({"eos_token_id": null, "text_config": {"eos_token_id": [<0>]}})", {"</s>"}, "", "", {"</s>"}},
    {"InternVL's first folders",
     R"({"llm_config": {"eos_token_id": <0>}})",
     {"</s>", "<|im_end|>"},
     "</s>",
     "<|im_end|>\n",
     {"</s>", "<|im_end|>"}},
    {"the tokenizer alone", "{}", {"<stop>", "</s>"}, "<stop>", "", {"<stop>"}},
    {"a fine-tune in ChatML", R"({"eos_token_id": <0>})", {"</s>", "<|im_end|>"}, "<|im_end|>", "<|im_end|>\n", {"</s>", "<|im_end|>"}},
    {"DeepSeek",
     R"({"eos_token_id": <0>})",
     {"<\uFF5Cend\u2581of\u2581sentence\uFF5C>", "<|im_end|>"},
     "",
     "",
     {"<\uFF5Cend\u2581of\u2581sentence\uFF5C>"}},
    {"nobody says anything, and the vocabulary has them", "{}", {"<|end_of_turn|>", "</s>"}, "", "", {"<|end_of_turn|>", "</s>"}},
};

TEST_F(EndTokens, AreTheConfigurationsTheTokenizersAndTheTemplatesWhereNoFileSaysHowToGenerate) {
  constexpr std::int64_t kFirst = 1100;  // behind the vocabulary's words
  const TokenizerFile words = read_tokenizer_file(source_folder() + "/tests/golden/tokenizer/qwen2_like/tokenizer.json");
  for (const FolderWithoutGeneration& each : kFolders) {
    SCOPED_TRACE(each.name);
    TokenizerFile tokenizer = words;
    tokenizer.added_tokens.clear();
    std::string config = each.config;
    std::set<std::int64_t> expected;
    for (std::size_t i = 0; i < each.tokens.size(); ++i) {
      const std::int64_t id = kFirst + static_cast<std::int64_t>(i);
      AddedToken token{.id = id, .content = each.tokens[i], .special = true};
      tokenizer.added_tokens.push_back(token);
      const std::string mark = "<" + std::to_string(i) + ">";
      if (const std::size_t at = config.find(mark); at != std::string::npos) config.replace(at, mark.size(), std::to_string(id));
      if (each.ends.contains(each.tokens[i])) expected.insert(id);
    }
    folder_.write("config.json", config);
    const auto read = Tokenizer::from(tokenizer);
    const TurnTemplate turns{each.written, each.eos};
    EXPECT_EQ(read_end_tokens(HuggingFaceFolder(folder_.path()), *read, read->vocabulary_size(), turns), expected);
  }
}

// An end that only the tokenizer names is one beside the file's.
TEST_F(EndTokens, TheTokenizersOwnEndCountsBesideTheFiles) {
  folder_.write("generation_config.json", R"({"eos_token_id": 7})");
  const auto tokens = Tokenizer::from(read_tokenizer_file(kTokenizer));
  EXPECT_EQ(read_end_tokens(HuggingFaceFolder(folder_.path()), *tokens, kVocabulary, {"<|endoftext|>", "<|im_end|>"}),
            (std::set<std::int64_t>{7, kEndOfMessage}));
}

}  // namespace
}  // namespace winnow
