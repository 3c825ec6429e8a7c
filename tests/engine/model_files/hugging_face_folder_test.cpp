// What a folder gives, in which order its files are asked, and that none is opened twice.
#include "engine/model_files/hugging_face_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "engine/base/error.h"
#include "engine/model_files/open_package.h"
#include "tests/support/expect_error.h"
#include "tests/support/opened_files.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

TEST(HuggingFaceFolder, OpensEachFileOnceHoweverOftenItIsAsked) {
  const std::string folder = source_folder() + "/resources/demo/model";
  const test::OpenedFiles opened(folder);
  const std::unique_ptr<ModelPackage> package = open_package(folder);
  EXPECT_TRUE(opened.counts().empty()) << "nothing is read before it is asked for";
  for (int time = 0; time < 3; ++time) {
    for (const ModelPart part : {ModelPart::kConfig, ModelPart::kGeneration, ModelPart::kProcessor, ModelPart::kImageProcessor,
                                 ModelPart::kVideoProcessor, ModelPart::kWinnow}) {
      ASSERT_NE(package->document(part), nullptr) << package->subject(part);
      EXPECT_EQ(package->document(part)->subject, package->subject(part));
    }
    EXPECT_GT(package->tensors().total_bytes(), 1'000'000U);
  }
  EXPECT_GT(package->tokenizer().vocabulary.size(), 100U);
  EXPECT_FALSE(package->chat_template({}).source.empty());
  const std::map<std::string, int> counts = opened.counts();
  EXPECT_EQ(counts.size(), 10U);
  for (const auto& [file, count] : counts) EXPECT_EQ(count, 1) << file;
}

TEST(HuggingFaceFolder, WhatIsNotThereIsNothingOrAnError) {
  const test::ScratchFolder scratch;
  scratch.write("winnow.json", "{not json");
  const HuggingFaceFolder folder(scratch.path());
  EXPECT_EQ(folder.document(ModelPart::kGeneration), nullptr);
  test::expect_error(ErrorCode::kDamagedFile, "winnow.json: not valid JSON", [&] { folder.document(ModelPart::kWinnow); });
  try {
    folder.required(ModelPart::kConfig);
    ADD_FAILURE() << "it was read";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kFileNotFound);
    EXPECT_EQ(exception.error().subject, scratch.path() + "/config.json");
  }
}

// An unpacked archive put a file of its user's into the prompt: its chat template was a link.
TEST(HuggingFaceFolder, DocumentsMayNotLinkOutOfTheFolder) {
  const test::ScratchFolder entry;
  entry.write("private", R"({"chat_template": "secret"})");
  const std::string folder = entry.file("snapshots/revision");
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(entry.file("blobs"));
  const auto refused = [&](const std::string& name, const std::function<void(const HuggingFaceFolder&)>& read) {
    SCOPED_TRACE(name);
    std::filesystem::create_symlink("../../private", folder + "/" + name);
    test::expect_error(ErrorCode::kFileUnreadable, "leads out of the model folder", [&] { read(HuggingFaceFolder(folder)); });
    std::filesystem::remove(folder + "/" + name);
  };
  const auto ask_template = [](const HuggingFaceFolder& model) { model.chat_template({}); };
  for (const char* name : {"chat_template.jinja", "chat_template.json", "processor_config.json", "tokenizer_config.json"})
    refused(name, ask_template);
  refused("config.json", [](const HuggingFaceFolder& model) { model.document(ModelPart::kConfig); });
  refused("tokenizer.json", [](const HuggingFaceFolder& model) { model.tokenizer(); });
  refused("model.safetensors.index.json", [](const HuggingFaceFolder& model) { model.tensors(); });
  refused("model.safetensors", [](const HuggingFaceFolder& model) { model.tensors(); });

  entry.write("blobs/hash", "{{ 1 }}");
  std::filesystem::create_symlink("../../blobs/hash", folder + "/chat_template.jinja");
  EXPECT_EQ(HuggingFaceFolder(folder).chat_template({}).source, "{{ 1 }}") << "as Hugging Face's cache stores files";
}

TEST(HuggingFaceFolder, IsNamedByItsLastPart) {
  EXPECT_EQ(HuggingFaceFolder("/models/llava-0.5b").name(), "llava-0.5b");
  EXPECT_EQ(HuggingFaceFolder("/models/llava-0.5b//").name(), "llava-0.5b");
  EXPECT_EQ(HuggingFaceFolder("here").name(), "here");
  EXPECT_EQ(HuggingFaceFolder("/").name(), "/");
}

// Who asks `serve` names a model so; a commit or "model" told nobody which one it is.
TEST(HuggingFaceFolder, IsNamedByItsRepositoryInTheHubsCache) {
  const std::string hub = "/home/user/.cache/huggingface/hub/";
  EXPECT_EQ(HuggingFaceFolder(hub + "models--Qwen--Qwen3-VL-4B-Instruct/snapshots/c0ffee").name(), "Qwen/Qwen3-VL-4B-Instruct");
  EXPECT_EQ(HuggingFaceFolder(hub + "models--gpt2/snapshots/c0ffee/").name(), "gpt2");
  EXPECT_EQ(HuggingFaceFolder("/data/snapshots/monday").name(), "monday");
}

TEST(HuggingFaceFolder, OneCalledModelIsNamedByWhatHoldsIt) {
  EXPECT_EQ(HuggingFaceFolder("/usr/share/winnow/demo/model").name(), "demo");
  EXPECT_EQ(HuggingFaceFolder("model").name(), "model");
  EXPECT_EQ(HuggingFaceFolder("/model").name(), "model");
}

TEST(HuggingFaceFolder, TheTokenizersConfigurationSaysWhatStandsBeforeAText) {
  const test::ScratchFolder scratch;
  scratch.write("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"<s>": 0, "a": 1}, "merges": []},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}})");
  const auto prefix = [&] { return HuggingFaceFolder(scratch.path()).tokenizer().prefix; };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(prefix(), Texts{"<s>"});
  scratch.write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  EXPECT_EQ(prefix(), Texts{"<s>"});
  scratch.write("tokenizer_config.json", R"({"bos_token": "<s>", "add_bos_token": false})");
  EXPECT_EQ(prefix(), Texts{});
  scratch.write("tokenizer_config.json", R"({"bos_token": {"content": "a"}, "add_bos_token": true})");
  EXPECT_EQ(prefix(), Texts{"a"});
}

TEST(HuggingFaceFolder, TheTokenizersConfigurationHasTheLastWordOnAddedTokens) {
  const test::ScratchFolder scratch;
  scratch.write("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"<s>": 0, "a": 1}, "merges": []},
    "added_tokens": [{"id": 0, "content": "<s>", "special": true}]})");
  scratch.write("tokenizer_config.json", R"({"added_tokens_decoder": {"0": {"content": "<s>", "special": true, "rstrip": true}}})");
  const TokenizerFile file = HuggingFaceFolder(scratch.path()).tokenizer();
  ASSERT_EQ(file.added_tokens.size(), 1U);
  EXPECT_TRUE(file.added_tokens.front().rstrip);
  scratch.write("tokenizer_config.json", R"({"added_tokens_decoder": []})");
  try {
    HuggingFaceFolder(scratch.path()).tokenizer();
    ADD_FAILURE() << "it was read";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kDamagedFile);
    EXPECT_TRUE(exception.error().subject.starts_with(scratch.path() + "/tokenizer_config.json")) << exception.error().subject;
  }
}

TEST(HuggingFaceFolder, ATemplateIsFoundInTheOrderOfItsFiles) {
  const test::ScratchFolder scratch;
  std::string fallback;
  const auto text = [&] {
    const TemplateText found = HuggingFaceFolder(scratch.path()).chat_template(fallback);
    return found.source + found.bos + found.eos;
  };
  EXPECT_THROW(text(), Exception);
  fallback = "0";  // the model family's
  EXPECT_EQ(text(), "0");
  scratch.write("tokenizer_config.json", R"({"chat_template": [{"name": "other", "template": "x"}, {"name": "default", "template": "1"}],
                "bos_token": "<b>", "eos_token": {"content": "<e>"}})");
  EXPECT_EQ(text(), "1<b><e>");
  scratch.write("processor_config.json", R"({"chat_template": "2"})");
  EXPECT_EQ(text(), "2<b><e>");
  scratch.write("chat_template.json", R"({"chat_template": "3"})");
  EXPECT_EQ(text(), "3<b><e>");
  scratch.write("chat_template.jinja", "4");
  EXPECT_EQ(text(), "4<b><e>");
  scratch.write("chat_template.jinja", std::string(65'537, ' '));
  EXPECT_THROW(text(), Exception);
  scratch.write("chat_template.jinja", "4");
  scratch.write("tokenizer_config.json", R"({"bos_token": 7})");
  EXPECT_EQ(text(), "4");
}

}  // namespace
}  // namespace winnow
