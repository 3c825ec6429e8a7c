// What a stream says of an answer, and that no bytes do more than end it.
#include "app/engine/remote/answer_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/expect_error.h"

namespace winnow::app {
namespace {

const ServerAddress kAddress{"http://gpu:8000/v1", "small"};
const ServerReply kStream{200, "text/event-stream"};

struct Heard {
  std::string text;     // thoughts included
  std::string thought;  // alone
  AnswerStream stream{kAddress, [this](const TextDelta& delta) {
                        text += delta.text;
                        if (delta.kind == TextKind::kThought) thought += delta.text;
                      }};

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

std::string deltas(const std::vector<std::string>& each, const std::string& reason = "stop") {
  std::string stream;
  for (const std::string& delta : each) stream += "data: {\"choices\":[{\"index\":0,\"delta\":" + delta + "}]}\n\n";
  return stream + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"" + reason + "\"}]}\n\ndata: [DONE]\n\n";
}

TEST(AnswerStream, APartOfAListIsText) {
  const Heard parts(deltas({R"({"content":[{"type":"text","text":"one "},{"type":"image_url"},{"type":"text","text":"two"}]})"}));
  EXPECT_EQ(parts.text, "one two");
  const Heard mistral(deltas({R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]})", R"({"content":"so"})"}));
  EXPECT_EQ(mistral.text, "hmso");
  EXPECT_EQ(mistral.thought, "hm");
  EXPECT_EQ(Heard(deltas({R"({"content":null,"refusal":"I will not."})"})).text, "I will not.");
}

TEST(AnswerStream, ThoughtsInMarksComeApart) {
  const Heard heard(deltas({R"({"content":"<thi"})", R"({"content":"nk>hm"})", R"({"content":"</think>\n\nso"})"}));
  EXPECT_EQ(heard.thought, "hm");
  EXPECT_EQ(heard.text, "hmso");
}

TEST(AnswerStream, ACharacterInTwoHalvesIsWhole) {
  EXPECT_EQ(Heard(deltas({R"({"content":"a\ud83d"})", R"({"content":"\ude00b"})"})).text, "a\U0001F600b");
  EXPECT_EQ(Heard(deltas({R"({"content":"a\ud83d\ude00\u00e9"})"})).text, "a\U0001F600\u00e9");
  EXPECT_EQ(Heard(deltas({R"({"content":"a\ud83db\ude00c"})"})).text, "a\uFFFDb\uFFFDc");
  EXPECT_EQ(Heard(deltas({R"({"content":"a\\ud83d"})"})).text, "a\\ud83d") << "no escape, but a back slash";
}

TEST(AnswerStream, ALineOfMegabytesIsRead) {
  const std::string long_word(3 << 20, 'x');
  EXPECT_EQ(Heard(deltas({"{\"content\":\"" + long_word + "\"}"})).text, long_word);
}

void expectFault(const std::string& stream, ErrorCode code, const std::string& reason) {
  test::expect_error(code, reason, [&] { Heard{stream}; });
}

// An answer that is none is said to be none.
TEST(AnswerStream, AToolOrAFilterInPlaceOfAnAnswerIsAFault) {
  const std::string call = R"({"tool_calls":[{"index":0,"function":{"name":"weather","arguments":""}}]})";
  expectFault(deltas({call}, "tool_calls"), ErrorCode::kServerNotUnderstood, "its model calls the tool weather instead of answering");
  expectFault(deltas({}, "tool_calls"), ErrorCode::kServerNotUnderstood, "its model calls a tool instead");
  EXPECT_EQ(Heard(deltas({R"({"content":"Let me see."})", call}, "tool_calls")).text, "Let me see.");
  expectFault(deltas({}, "content_filter"), ErrorCode::kServerRefuses, "its filter held the answer back");
  expectFault(deltas({R"({"content":"So"})"}, "content_filter"), ErrorCode::kServerRefuses, "its filter ended the answer");
}

TEST(AnswerStream, AnEventThatIsCalledErrorIsOne) {
  expectFault("event: error\ndata: {\"message\":\"out of memory\",\"code\":503}\n\n", ErrorCode::kServerBusy, "out of memory");
  expectFault("event: error\ndata: the GPU is gone\n\n", ErrorCode::kServerFailed, "the GPU is gone");
  expectFault("data: {\"object\":\"error\",\"message\":[\"one\",{\"msg\":\"two\"}],\"code\":400}\n\n", ErrorCode::kServerRefuses,
              "it says: one; two");
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
