#include "app/programs/server/completion_request.h"

#include <gtest/gtest.h>

#include "app/programs/server/api_refusal.h"

namespace winnow::app {
namespace {

ChatRequest with(const std::string& fields) {
  const Json document = requestDocument("{" + fields + "}");
  return completionRequestOf(RequestFields(document, ""), RequestDefaults());
}

std::string refusal(const std::string& fields) {
  try {
    with(fields);
  } catch (const ApiRefusal& refused) {
    return refused.param() + ": " + refused.message();
  }
  ADD_FAILURE() << fields << " is not refused";
  return {};
}

TEST(CompletionRequest, IsTheTextAlone) {
  for (const char* prompt : {R"("prompt":"Once upon")", R"("prompt":["Once upon"])"}) {
    const ChatRequest request = with(std::string(prompt) + R"(,"stream":true,"stop":"\n","user":"me","novelty":1)");
    EXPECT_EQ(request.form, AnswerForm::kText);
    EXPECT_EQ(request.turn.prompt.form, PromptForm::kPlainText);
    ASSERT_EQ(request.turn.messages.size(), 1U);
    EXPECT_EQ(std::get<TextItem>(request.turn.messages[0].items.at(0)).text, "Once upon");
    EXPECT_TRUE(request.stream);
    EXPECT_EQ(request.turn.sampling.max_new_tokens, 16) << "of OpenAI's API";
    EXPECT_EQ(request.turn.sampling.stop_strings, std::vector<std::string>{"\n"});
    EXPECT_EQ(request.ignored, std::vector<std::string>{"novelty"});
    EXPECT_EQ(request.echo, "");
  }
  EXPECT_EQ(with(R"("prompt":"a","max_tokens":3)").turn.sampling.max_new_tokens, 3);
  EXPECT_EQ(with(R"("prompt":"a","echo":true)").echo, "a");
  EXPECT_EQ(with(R"("prompt":"a","logprobs":2)").turn.sampling.told_probabilities, 2);
  EXPECT_EQ(with(R"("prompt":"a","logprobs":null,"suffix":"","best_of":1)").turn.sampling.told_probabilities, Sampling::kNoProbabilities);
}

TEST(CompletionRequest, NothingThatChangesTheAnswerIsLeftOutSilently) {
  for (const char* asked : {R"("prompt":[1,2])", R"("prompt":[[1,2]])", R"("prompt":["a","b"])", R"("prompt":"a","best_of":2)",
                            R"("prompt":"a","suffix":"end")", R"("prompt":"a","echo":true,"logprobs":1)", R"("prompt":"a","n":2)",
                            R"("prompt":"a","logit_bias":{"5":1})"})
    EXPECT_NE(refusal(asked).find("not supported"), std::string::npos) << asked;
  EXPECT_EQ(refusal(R"("stream":true)"), "prompt: is missing");
  EXPECT_EQ(refusal(R"("prompt":[])"), "prompt: must be a text, or a list of one text");
  EXPECT_EQ(refusal(R"("prompt":{})"), "prompt: must be a text, or a list of one text");
  EXPECT_NE(refusal(R"("prompt":"a","logprobs":99)").find("from 0 to 20"), std::string::npos);
  EXPECT_NE(refusal(R"("prompt":"a","logprobs":true)").find("whole number"), std::string::npos);
}

}  // namespace
}  // namespace winnow::app
