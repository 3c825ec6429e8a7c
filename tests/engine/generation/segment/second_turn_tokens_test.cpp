// A second question behind an answer, read from its cache and anew: the same tokens, family by family, whatever white space the answer has.
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/generation/context/cache_shape.h"
#include "engine/generation/conversation/answer_text.h"
#include "engine/generation/segment/prompt.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/vision_folders.h"

namespace winnow::testing {
namespace {

using Ids = std::vector<std::int64_t>;

class SecondTurnTokens : public ::testing::TestWithParam<const char*> {
 protected:
  SecondTurnTokens() : model_(load_folder(GoldenFolder(GetParam()).in_fp32(), {}, InterruptToken())) {}

  Conversation nothing() const { return Conversation(cache_shape(*model_->network, RecipeSpec())); }
  Ids prompt(const std::vector<Message>& thread, const Conversation& held) const {
    return build_prompt({*model_, thread, settings_, held}, {}).token_ids;
  }

  // What is told of an answer that the model wrote so.
  std::string told(const Ids& written) const {
    AnswerText text(*model_, ThoughtStart::kUnsaid);
    std::string answer;
    for (const std::int64_t id : written) answer += text.push(id).answer;
    return answer + text.flush().answer;
  }

  const c10::InferenceMode inference_;
  const std::unique_ptr<LoadedModel> model_;
  const PromptSettings settings_{};
};

TEST_P(SecondTurnTokens, AreThoseOfTheThreadReadAnew) {
  const std::vector<Message> first = {{Role::kUser, {TextItem{"What is it?"}}}};
  const Ids begun = prompt(first, nothing());
  std::vector<std::string> gone_on;
  for (const std::string said : {"Some squares.", " Some squares.", "Some squares. ", "\nYes\n", "  2"}) {
    SCOPED_TRACE("\"" + said + "\"");
    const Ids written = model_->tokenizer->encode(said, SpecialText::kAsText);
    std::vector<Message> thread = first;
    thread.push_back({Role::kAssistant, {TextItem{told(written)}}});
    Conversation held = nothing();
    held.thread = thread;
    held.settings = settings_;
    held.answer_ids = written;
    thread.push_back({Role::kUser, {TextItem{"And now?"}}});
    if (!goes_on({*model_, thread, settings_, held})) continue;  // it is read anew
    gone_on.push_back(said);
    Ids together = begun;
    together.insert(together.end(), written.begin(), written.end());
    const Ids rest = prompt(thread, held);
    together.insert(together.end(), rest.begin(), rest.end());
    EXPECT_EQ(together, prompt(thread, nothing())) << model_->tokenizer->decode(together, SpecialTokens::kKeep) << "\nand anew:\n"
                                                   << model_->tokenizer->decode(prompt(thread, nothing()), SpecialTokens::kKeep);
  }
  // Those whose templates write a thought's marks into history alone are read anew.
  const std::string name = GetParam();
  const bool rewritten = name == "glm4v/flash" || name.starts_with("glm4v_moe/");
  EXPECT_EQ(std::ranges::count(gone_on, std::string("Some squares.")), rewritten ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Folders, SecondTurnTokens, ::testing::ValuesIn(test_support::kVisionFolders), folder_info_name);

}  // namespace
}  // namespace winnow::testing
