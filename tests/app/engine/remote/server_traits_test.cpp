// What each kind of server says about itself and its model.
#include "app/engine/remote/server_traits.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/fake_model_server.h"

namespace winnow::app {
namespace {

using test::FakeModelServer;

class ServerTraitsTest : public ::testing::Test {
 protected:
  ServerTraits traits(const std::string& model = {}) {
    ServerConnection connection({m_server.url(), model}, {}, {2000, 2000, 2000});
    return traitsOf(connection, {});
  }

  FakeModelServer m_server;
};

TEST_F(ServerTraitsTest, VllmTakesVideosAndTellsItsContext) {
  m_server.serve("vllm", {});
  const ServerTraits told = traits();
  EXPECT_EQ(told.kind, ServerKind::kVllm);
  EXPECT_EQ(told.model, "small");
  EXPECT_EQ(told.contextTokens, 4096);
  EXPECT_TRUE(told.takesVideos && told.sees && told.continues && !told.choosesFrames);
}

TEST_F(ServerTraitsTest, SglangChoosesFramesItself) {
  m_server.serve("sglang", {});
  m_server.answerJson("/get_model_info", R"({"model_path":"x","has_image_understanding":true})");
  EXPECT_TRUE(traits().takesVideos && traits().choosesFrames);
  m_server.answerJson("/get_model_info", R"({"has_image_understanding":false})");
  EXPECT_FALSE(traits().sees || traits().takesVideos);
}

TEST_F(ServerTraitsTest, LlamaServerTellsWhetherItSees) {
  m_server.answerJson("/v1/models", R"({"models":[],"data":[{"id":"a.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":32768}}]})");
  m_server.answerJson("/props", R"({"modalities":{"vision":true,"audio":false},"default_generation_settings":{"n_ctx":8192}})");
  EXPECT_EQ(traits().kind, ServerKind::kLlamaServer);
  EXPECT_EQ(traits().contextTokens, 8192);
  EXPECT_TRUE(traits().sees);
  EXPECT_FALSE(traits().takesVideos);
  m_server.answerJson("/props", R"({"modalities":{"vision":false}})");
  EXPECT_FALSE(traits().sees);
}

TEST_F(ServerTraitsTest, OllamaAndLmStudioTellTheirAbilities) {
  m_server.serve("library", {});
  m_server.answerJson("/api/show", R"({"capabilities":["completion","thinking"]})");
  EXPECT_EQ(traits().kind, ServerKind::kOllama);
  EXPECT_FALSE(traits().sees);
  EXPECT_TRUE(traits().thinks);
  m_server.serve("organization_owner", {});
  m_server.answerJson("/api/v0/models/large", R"({"type":"vlm","loaded_context_length":2048})");
  EXPECT_EQ(traits("large").kind, ServerKind::kLmStudio);
  EXPECT_TRUE(traits("large").sees);
  EXPECT_EQ(traits("large").contextTokens, 2048);
}

TEST_F(ServerTraitsTest, AnotherWinnowIsKnownByItsProps) {
  m_server.serve("winnow", {});
  m_server.answerJson("/props", R"({"modalities":{"vision":true,"video":true},"winnow":{"version":"1"}})");
  EXPECT_EQ(traits().kind, ServerKind::kWinnow);
  EXPECT_TRUE(traits().takesVideos);
}

TEST_F(ServerTraitsTest, ModelsAreListedAndAMissingOneIsNamed) {
  m_server.serve("someone", {});
  ServerConnection connection({m_server.url()}, {}, {2000, 2000, 2000});
  EXPECT_EQ(modelsOf(connection, {}), (std::vector<std::string>{"small", "large"}));
  EXPECT_EQ(traits("large").model, "large");
  EXPECT_EQ(traits().kind, ServerKind::kOther);
  test::expect_error(ErrorCode::kServerModelMissing, "huge", [&] { traits("huge"); });
}

TEST_F(ServerTraitsTest, WhatIsNoServerOfTheKindIsSaidSo) {
  const std::pair<QByteArray, ErrorCode> bodies[] = {
      {"<html>a page</html>", ErrorCode::kServerNotOne},
      {"{}", ErrorCode::kServerNotOne},
      {R"({"data":7})", ErrorCode::kServerNotOne},
      {"[[[[", ErrorCode::kServerNotUnderstood},
      {"", ErrorCode::kServerNotUnderstood},
      {R"({"data":[]})", ErrorCode::kServerModelMissing},
      {R"({"data":[1,{"id":7},{"id":""},{"id":"a\u001b[2J"}]})", ErrorCode::kServerModelMissing}};
  for (const auto& [body, code] : bodies) {
    m_server.answerJson("/v1/models", body);
    test::expect_error(code, "127.0.0.1", [&] { traits(); });
  }
  FakeModelServer empty;
  ServerConnection connection({empty.url()}, {}, {2000, 2000, 2000});
  test::expect_error(ErrorCode::kServerNotOne, "404", [&] { traitsOf(connection, {}); });
}

TEST_F(ServerTraitsTest, TheKeyGoesAlongAndNothingIsFollowed) {
  FakeModelServer other;
  other.serve("vllm", {});
  m_server.answer("/v1/models", {.status = 302, .headers = QByteArray("Location: ") + other.url().c_str() + "/models\r\n", .pieces = {}});
  ServerConnection connection({m_server.url()}, "sk-secret", {2000, 2000, 2000});
  test::expect_error(ErrorCode::kServerNotOne, "it leads to another address", [&] { traitsOf(connection, {}); });
  // Qt asks once more where the connection ends with the answer.
  ASSERT_FALSE(m_server.asked.empty());
  for (const auto& asked : m_server.asked) EXPECT_TRUE(asked.head.contains("Authorization: Bearer sk-secret"));
  EXPECT_TRUE(other.asked.empty());
}

// As people copy it from a browser: where the server is, without /v1.
TEST_F(ServerTraitsTest, AnAddressWithoutV1IsTriedWithIt) {
  m_server.answerJson("/openai/v1/models", R"({"data":[{"id":"small","owned_by":"vllm"}]})");
  const std::string typed = m_server.url().substr(0, m_server.url().size() - 3) + "/openai";
  ServerConnection connection({typed}, {}, {2000, 2000, 2000});
  EXPECT_EQ(traitsOf(connection, {}).model, "small");
  EXPECT_EQ(connection.address().url, typed + "/v1") << "what is asked from now on";
  m_server.answer("/openai/models", {.type = "text/html", .pieces = {"<html>a page for people</html>"}});
  ServerConnection again({typed}, {}, {2000, 2000, 2000});
  EXPECT_EQ(modelsOf(again, {}).size(), 1U);
  ServerConnection nowhere({typed + "/else"}, {}, {2000, 2000, 2000});
  test::expect_error(ErrorCode::kServerNotOne, "status 404", [&] { modelsOf(nowhere, {}); });
  EXPECT_EQ(nowhere.address().url, typed + "/else");
}

}  // namespace
}  // namespace winnow::app
