#include "engine/text/thought_tags.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

std::unique_ptr<Tokenizer> tokenizer_of(const std::string& folder) {
  return Tokenizer::from(read_tokenizer_file(source_folder() + "/tests/golden/" + folder + "/model/tokenizer.json"));
}

// GLM-4.1V-Thinking: a template that says nothing of it, and tokens for thought and answer.
TEST(ThoughtTags, TokensForAnAnswerBehindAThoughtAreTakenWithIt) {
  const auto found = find_thought_tags("{{ messages }}", *tokenizer_of("glm4v/thinking"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tags.begin, "<think>");
  EXPECT_EQ(found->tags.answer_begin, "<answer>");
  EXPECT_EQ(found->tags.answer_end, "</answer>");
  EXPECT_FALSE(found->by_template);
}

// GLM-4.6V has the same tokenizer, and a template with thoughts alone.
TEST(ThoughtTags, ATemplateThatNamesThoughtsGoesBeforeTheTokens) {
  const auto found = find_thought_tags("{{ '<think></think>' }}", *tokenizer_of("glm4v/flash"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tags.begin, "<think>");
  EXPECT_EQ(found->tags.answer_begin, "");
  EXPECT_TRUE(found->by_template);
}

TEST(ThoughtTags, WhereNeitherKnowsMarksThereAreNone) {
  EXPECT_FALSE(find_thought_tags("{{ messages }}", *tokenizer_of("qwen3_vl/published")));
}

}  // namespace
}  // namespace winnow
