// What a stream says of an answer, and that no bytes do more than end it.
#include "app/remote/answer_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace winnow::app {
namespace {

const ServerAddress kAddress{"http://gpu:8000/v1", "small"};
const ServerReply kStream{200, "text/event-stream"};

struct Heard {
  std::string text;
  AnswerStream stream{kAddress, [this](const TextDelta& delta) { text += delta.text; }};

  explicit Heard(const std::string& bytes) {
    stream.add(kStream, bytes);
    stream.end();
  }
};

TEST(AnswerStream, CountsThatMakeNoSenseAreNotBelieved) {
  const auto usage = [](const std::string& said) {
    return Heard("data: {\"choices\":[],\"usage\":" + said + "}\n\n").stream.usage().value_or(AnswerUsage{-1, -1, -1, -1});
  };
  EXPECT_EQ(usage(R"({"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":20}})").cachedTokens, 9);
  EXPECT_EQ(usage(R"({"prompt_tokens":-3,"completion_tokens":1e300})").promptTokens, 0);
  EXPECT_EQ(usage(R"({"prompt_tokens":18446744073709551615})").promptTokens, 0);
  EXPECT_EQ(usage(R"({"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":9}})").thoughtTokens, 4);
  EXPECT_EQ(usage(R"({"prompt_tokens":"many","prompt_tokens_details":7})").promptTokens, 0);
  EXPECT_EQ(usage("7").promptTokens, -1) << "no object: nothing is told";
}

TEST(AnswerStream, AWordThatIsAnotherTypeIsLeftOut) {
  EXPECT_EQ(Heard(R"(data: {"choices":[{"delta":{"content":7}}]})"
                  "\n\n"
                  R"(data: {"choices":[{"delta":{"content":["a"]}}]})"
                  "\n\n"
                  R"(data: {"choices":{"0":1}})"
                  "\n\n"
                  R"(data: {"choices":[null]})"
                  "\n\n"
                  R"(data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]})"
                  "\n\n")
                .text,
            "b");
}

TEST(AnswerStream, NothingCountsBehindTheEnd) {
  const Heard heard("data: [DONE]\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"more\"}}]}\n\n");
  EXPECT_TRUE(heard.stream.ended());
  EXPECT_EQ(heard.text, "");
}

// A byte here and there is another one: it ends, or is refused, and never more.
TEST(AnswerStream, DamagedStreamsEndOrAreRefused) {
  const std::string whole = R"(data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"one "},"finish_reason":null}]})"
                            "\n\n"
                            R"(data: {"choices":[{"delta":{"reasoning_content":"two"},"finish_reason":"length"}]})"
                            "\n\n"
                            R"(data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2}})"
                            "\n\ndata: [DONE]\n\n";
  std::mt19937 random(11);
  int refused = 0;
  for (int run = 0; run < 3000; ++run) {
    std::string bytes = whole;
    for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    try {
      const Heard heard(bytes);
      EXPECT_LE(heard.text.size(), bytes.size());
    } catch (const Exception& problem) {
      ++refused;
      EXPECT_FALSE(problem.error().reason.empty());
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace winnow::app
