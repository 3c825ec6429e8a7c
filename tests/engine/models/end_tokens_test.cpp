// Which tokens end an answer, from generation_config.json and from the templates of the families.
#include "engine/models/end_tokens.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

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
    return read_end_tokens(HuggingFaceFolder(folder_.path()), *Tokenizer::from(read_tokenizer_file(tokenizer)), kVocabulary, from);
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

}  // namespace
}  // namespace winnow
