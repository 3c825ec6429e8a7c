// `--server` in the terminal: a server on this machine answers, and what it cannot do is refused in words.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command_run.h"
#include "tests/support/fake_model_server.h"

namespace winnow::testing {
namespace {

class ServerOption : public ::testing::Test {
 protected:
  ServerOption() { m_server.serve("llamacpp", {"It ", "is ", "red."}); }
  std::string server() const { return " --server " + m_server.url(); }
  nlohmann::json body() const { return nlohmann::json::parse(m_server.asked.back().body.toStdString()); }

  ScratchFolder m_scratch;
  test::FakeModelServer m_server;
};

TEST_F(ServerOption, AnAnswerComesFromTheServerWithItsFigures) {
  const ProgramRun run = run_command(m_scratch, "ask" + server() + " --server-model large --max-tokens 9 'Which colour?'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "It is red.\n");
  EXPECT_NE(run.err.find("40 prompt tokens (30 from the server's cache)"), std::string::npos) << run.err;
  EXPECT_EQ(body()["model"], "large");
  EXPECT_EQ(body()["max_tokens"], 9);
  EXPECT_EQ(body()["messages"][0]["content"], "Which colour?");
}

TEST_F(ServerOption, TheKeyComesFromAFile) {
  const std::string key = m_scratch.write("key", "sk-secret\n");
  EXPECT_EQ(run_command(m_scratch, "ask" + server() + " --key-file " + key + " Why?").exit_code, 0);
  EXPECT_TRUE(m_server.asked.back().head.contains("Authorization: Bearer sk-secret"));
}

TEST_F(ServerOption, WhatCannotBeDoneIsRefusedInWords) {
  const std::pair<std::string, const char*> refused[] = {
      {"ask" + server() + " --method snapkv Why?", "the cache is the server's: leave out --method"},
      {"ask" + server() + " --image cat.png Why?", "this model reads text only"},
      {"ask" + server() + " --server-model huge Why?", "huge: it is not among the 2 that it lists"},
      {"ask" + server() + " --key-file /nowhere/key Why?", "/nowhere/key"},
      {"ask" + server() + " --model x Why?", "excludes"},
      {"ask --server-model large Why?", "requires --server"},
      {"plan" + server() + " Why?", "a server has no request for this"},
      {"compare" + server() + " --method full --method snapkv Why?", "server"}};
  for (const auto& [line, words] : refused) {
    const ProgramRun run = run_command(m_scratch, line);
    EXPECT_NE(run.exit_code, 0) << line;
    EXPECT_NE(run.err.find(words), std::string::npos) << line << ": " << run.err;
  }
}

}  // namespace
}  // namespace winnow::testing
