// What people type, and what the hub's own environment variables say.
#include "app/library/hub/hub_place.h"

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

TEST(HubName, IsOwnerAndNameWithAQuantisation) {
  const auto name = readHubName(QStringLiteral("ggml-org/SmolVLM2-2.2B-Instruct-GGUF:Q8_0"));
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->repository, QStringLiteral("ggml-org/SmolVLM2-2.2B-Instruct-GGUF"));
  EXPECT_EQ(name->quantisation, QStringLiteral("Q8_0"));
  EXPECT_EQ(readHubName(QStringLiteral("https://huggingface.co/Qwen/Qwen2.5-VL-3B-Instruct"))->repository,
            QStringLiteral("Qwen/Qwen2.5-VL-3B-Instruct"));
  EXPECT_EQ(readHubName(QStringLiteral(" a/b "))->repository, QStringLiteral("a/b"));
}

TEST(HubName, IsReadFromAddressesAsTheyArePasted) {
  const std::pair<const char*, HubName> pasted[] = {
      {"https://huggingface.co/a/b", {QStringLiteral("a/b"), {}}},
      {"https://huggingface.co/a/b/", {QStringLiteral("a/b"), {}}},
      {"http://www.huggingface.co/a/b?library=gguf#files", {QStringLiteral("a/b"), {}}},
      {"https://huggingface.co/a/b/tree/main", {QStringLiteral("a/b"), {}}},
      {"https://huggingface.co/a/b/tree/v2/sub", {QStringLiteral("a/b"), {}, QStringLiteral("v2")}},
      {"https://huggingface.co/a/b/blob/main/sub/c-Q8_0.gguf", {QStringLiteral("a/b"), QStringLiteral("c-Q8_0.gguf")}},
      {"https://huggingface.co/a/b/resolve/main/c-Q8_0.gguf?download=true", {QStringLiteral("a/b"), QStringLiteral("c-Q8_0.gguf")}},
      {"https://huggingface.co/a/b/blob/main/config.json", {QStringLiteral("a/b"), {}}},
      {"hf.co/a/b:Q4_K_M", {QStringLiteral("a/b"), QStringLiteral("Q4_K_M")}},
      {"hf://a/b@v1.0:Q8_0", {QStringLiteral("a/b"), QStringLiteral("Q8_0"), QStringLiteral("v1.0")}},
      {"a/b@refs/pr/3", {QStringLiteral("a/b"), {}, QStringLiteral("refs/pr/3")}},
      {"a/b@main:Q8_0", {QStringLiteral("a/b"), QStringLiteral("Q8_0")}}};
  for (const auto& [typed, name] : pasted) {
    const auto read = readHubName(QString::fromLatin1(typed));
    ASSERT_TRUE(read.has_value()) << typed;
    EXPECT_EQ(*read, name) << typed << " is " << read->text().toStdString();
  }
  EXPECT_EQ(readHubName(QStringLiteral("a/b@v1:Q8_0"))->text(), QStringLiteral("a/b@v1:Q8_0"));
}

TEST(HubName, WhatCouldBeAPathIsNone) {
  for (const char* typed : {"",
                            "smollm2",
                            "/etc/passwd",
                            "../x",
                            "a/..",
                            "a/b/c",
                            "a/b:",
                            "a/b:../x",
                            "a--b/c",
                            "a/b c",
                            "a/b?x",
                            "-a/b",
                            "a/b\n",
                            "./a",
                            "~/a",
                            "a/b@",
                            "a/b@../x",
                            "a/b@x/",
                            "a/b@-x",
                            "https://huggingface.co/",
                            "https://huggingface.co/a",
                            "https://example.org/a/b"}) {
    EXPECT_FALSE(readHubName(QString::fromLatin1(typed)).has_value() && typed != std::string("a/b\n")) << typed;
  }
}

class HubPlaceTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* each : {"HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HF_TOKEN_PATH",
                             "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "XDG_CACHE_HOME"}) {
      qunsetenv(each);
    }
  }
  test::ScratchFolder scratch;
};

TEST_F(HubPlaceTest, TheCacheIsWhereTheHubsToolsHaveIt) {
  const QString home = QStringLiteral("/home/someone");
  EXPECT_EQ(hubCacheFolder(home), QStringLiteral("/home/someone/.cache/huggingface/hub"));
  qputenv("XDG_CACHE_HOME", "/fast");
  EXPECT_EQ(hubCacheFolder(home), QStringLiteral("/fast/huggingface/hub"));
  qputenv("HF_HOME", "/models");
  EXPECT_EQ(hubCacheFolder(home), QStringLiteral("/models/hub"));
  qputenv("HUGGINGFACE_HUB_CACHE", "/older");
  EXPECT_EQ(hubCacheFolder(home), QStringLiteral("/older"));
  qputenv("HF_HUB_CACHE", "/newer/");
  EXPECT_EQ(hubCacheFolder(home), QStringLiteral("/newer"));
  qputenv("HF_HUB_CACHE", "relative");
  EXPECT_EQ(hubCacheFolder(home), QStringLiteral("/older"));
}

TEST_F(HubPlaceTest, TheTokenComesFromTheVariableOrTheFile) {
  qputenv("HF_HOME", QByteArray::fromStdString(scratch.path()));
  EXPECT_EQ(HubPlace::fromEnvironment().token, "");
  scratch.write("token", "hf_fromfile\n");
  EXPECT_EQ(HubPlace::fromEnvironment().token, "hf_fromfile");
  qputenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1");
  EXPECT_EQ(HubPlace::fromEnvironment().token, "");
  qputenv("HF_TOKEN", "hf_variable");
  EXPECT_EQ(HubPlace::fromEnvironment().token, "hf_variable");
  qputenv("HF_TOKEN", "hf_two\r\nX-Other: header");
  EXPECT_EQ(HubPlace::fromEnvironment().token, "") << "what would end a header is no token";
}

TEST_F(HubPlaceTest, EndpointAndOffline) {
  EXPECT_EQ(HubPlace::fromEnvironment().endpoint, QStringLiteral("https://huggingface.co"));
  EXPECT_FALSE(HubPlace::fromEnvironment().offline);
  qputenv("HF_ENDPOINT", "https://mirror.example/hub/");
  qputenv("HF_HUB_OFFLINE", "1");
  EXPECT_EQ(HubPlace::fromEnvironment().endpoint, QStringLiteral("https://mirror.example/hub"));
  EXPECT_TRUE(HubPlace::fromEnvironment().offline);
}

}  // namespace
}  // namespace winnow::app
