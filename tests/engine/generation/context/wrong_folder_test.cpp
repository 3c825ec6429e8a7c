// What a program hears when a folder is chosen that the engine cannot load: codes of its own, never those of an attachment.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/base/file_bytes.h"
#include "engine/generation/context/loaded_model.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/golden_path.h"
#include "tests/support/opened_files.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

class WrongFolder : public TinyModel {
 protected:
  void SetUp() override {
    TinyModel::SetUp();
    fs::copy(golden_.model_folder(), model_, fs::copy_options::recursive);
  }

  Error refusal(const std::string& folder) {
    LoadModel load{.folder = folder};
    const EventRecorder events = run(load);
    EXPECT_TRUE(events.last<Failed>()) << folder;
    return events.last<Failed>() ? events.last<Failed>()->error : Error{};
  }

  const test::ScratchFolder scratch_;
  const std::string model_ = scratch_.file("model");
};

TEST_F(WrongFolder, IsToldFromAMissingAttachment) {
  EXPECT_EQ(refusal(scratch_.file("gone")).code, ErrorCode::kModelFolderMissing);
  EXPECT_EQ(refusal(scratch_.file("gone")).subject, scratch_.file("gone")) << "the folder itself, not a file in it";
  EXPECT_EQ(refusal(scratch_.path()).code, ErrorCode::kModelInside);
  EXPECT_EQ(refusal(scratch_.path()).subject, model_);
  EXPECT_EQ(refusal(model_ + "/config.json").code, ErrorCode::kNoModel);
  EXPECT_EQ(refusal(scratch_.write("model.onnx", "ONNX")).code, ErrorCode::kModelFormat);
  EXPECT_EQ(refusal(scratch_.write("model.gguf", "GGUF")).code, ErrorCode::kDamagedFile);
}

TEST_F(WrongFolder, ARightOneIsReadOnce) {
  const test::OpenedFiles opened(model_);
  LoadModel load{.folder = model_};
  ASSERT_TRUE(run(load).last<ModelLoaded>());
  const std::map<std::string, int> counts = opened.counts();
  EXPECT_TRUE(counts.contains("model.safetensors") && counts.contains("config.json"));
  for (const auto& [file, count] : counts) EXPECT_EQ(count, 1) << file;
}

// Their pictures need the tokenizer, too, which takes a second to read where the vocabulary is large.
TEST(LoadedFamily, ReadsItsTokenizerOnce) {
  for (const char* name : {"qwen3_vl/published", "internvl/qwen2_saved", "smolvlm/smolvlm2_split", "gemma3/published"}) {
    LoadModel load{.folder = test_support::golden_folder(name) + "/model"};
    const test::OpenedFiles opened(load.folder);
    const c10::InferenceMode inference;
    const auto model = load_folder(load, {}, InterruptToken());
    EXPECT_EQ(opened.counts().at("tokenizer.json"), 1) << name;
  }
}

TEST_F(WrongFolder, NamesTheFileThatAModelFolderLacks) {
  for (const char* name : {"tokenizer.json", "model.safetensors"}) {
    fs::rename(model_ + "/" + name, scratch_.file("kept"));
    const Error error = refusal(model_);
    EXPECT_EQ(error.code, ErrorCode::kModelFileMissing) << name;
    EXPECT_EQ(error.subject, model_ + "/" + name);
    fs::rename(scratch_.file("kept"), model_ + "/" + name);
  }
  fs::remove(model_ + "/processor_config.json");
  EXPECT_EQ(refusal(model_).code, ErrorCode::kModelFileMissing);
}

TEST_F(WrongFolder, NamesTheWeightsOfAnotherFormat) {
  fs::rename(model_ + "/model.safetensors", model_ + "/pytorch_model.bin");
  const Error error = refusal(model_);
  EXPECT_EQ(error.code, ErrorCode::kModelFormat);
  EXPECT_EQ(error.subject, model_ + "/pytorch_model.bin");
}

TEST_F(WrongFolder, NamesTheFolderOfAModelThatItDoesNotRun) {
  scratch_.write("model/config.json", R"({"architectures": ["MambaForCausalLM"]})");
  const Error error = refusal(model_);
  EXPECT_EQ(error.code, ErrorCode::kUnsupportedModel);
  EXPECT_EQ(error.subject, model_);
  EXPECT_NE(error.reason.find("MambaForCausalLM"), std::string::npos) << error.reason;
}

TEST_F(WrongFolder, AFolderWithoutAChatTemplateUsesThatOfItsFamily) {
  fs::remove(model_ + "/chat_template.jinja");
  LoadModel load{.folder = model_};
  ASSERT_TRUE(run(load).last<ModelLoaded>());
  EXPECT_TRUE(run(ask("text", "full", 1.0)).last<Finished>());
}

// What is wrong inside names the folder too: neither a tensor nor a template tells which model it is of.
TEST_F(WrongFolder, NamesTheFolderOfATemplateAndOfWeightsThatFail) {
  const auto expect_named = [&](const Error& error, ErrorCode code, const std::string& what) {
    EXPECT_EQ(error.code, code) << error.reason;
    EXPECT_EQ(error.subject, model_);
    EXPECT_NE(error.reason.find(what), std::string::npos) << error.reason;
  };
  scratch_.write("model/chat_template.jinja", "{% if %}");
  expect_named(refusal(model_), ErrorCode::kUnsupportedModel, "chat template: line 1");
  scratch_.write("model/chat_template.jinja", "{{ raise_exception('no') }}");
  LoadModel load{.folder = model_, .format = WeightFormat::kFp32};
  ASSERT_TRUE(run(load).last<ModelLoaded>());
  expect_named(run(ask("text", "full", 1.0)).last<Failed>()->error, ErrorCode::kInvalidArgument, "chat template: ");

  const std::string weights = model_ + "/model.safetensors";
  std::string bytes = read_file_bytes(weights, std::uint64_t{1} << 30);
  // NaN in every floating-point format; the last tensor alone may be one that the network does not read.
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end(), '\xFF');
  std::ofstream(weights, std::ios::binary) << bytes;
  expect_named(refusal(model_), ErrorCode::kDamagedFile, ": ");
}

// "tensor does not have a device" was said, and a plan said that nothing fits well.
TEST_F(WrongFolder, APromptWithoutTokensIsRefusedBeforeItIsRead) {
  std::ofstream(model_ + "/chat_template.jinja") << "{# says nothing #}";
  LoadModel load{.folder = model_};
  ASSERT_TRUE(run(load).last<ModelLoaded>());
  const Turn turn = ask("text", "full", 1.0);
  for (const RequestBody& body : {RequestBody(turn), RequestBody(Plan{turn})}) {
    const std::optional<Failed> failed = run(body).last<Failed>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->error.code, ErrorCode::kInvalidArgument) << failed->error.reason;
    EXPECT_EQ(failed->error.subject, "question");
    EXPECT_NE(failed->error.reason.find("no token for any"), std::string::npos) << failed->error.reason;
  }
}

// 8 TiB of a hole: nothing on the disk, and more than a machine has.
TEST_F(WrongFolder, AModelThatDoesNotFitIsRefusedBeforeAWeightIsRead) {
  const std::string header = R"({"layers.0.w":{"dtype":"F32","shape":[1048576,2097152],"data_offsets":[0,8796093022208]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  const std::string path = scratch_.write("model/model.safetensors", length + header);
  std::error_code cannot;
  fs::resize_file(path, 8 + header.size() + (std::uint64_t{1} << 43), cannot);
  if (cannot) GTEST_SKIP() << "this file system has no files of 8 TiB";
  LoadModel load{.folder = model_, .format = WeightFormat::kBf16};
  const EventRecorder events = run(load);
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(events.last<Failed>()->error.subject, model_);
  EXPECT_NE(events.last<Failed>()->error.reason.find("its weights need 4194304 MiB and "), std::string::npos)
      << events.last<Failed>()->error.reason;
  EXPECT_FALSE(events.last<Progress>());
  EXPECT_TRUE(run(ask("text", "full", 1.0)).last<Finished>()) << "the old model stays where its place would not be enough";
}

TEST_F(WrongFolder, ProgressIsToldInBytes) {
  LoadModel load{.folder = model_};
  EventRecorder events;
  std::vector<Progress> seen;
  events.hook = [&](const Event& event) {
    if (const auto* progress = std::get_if<Progress>(&event.body)) seen.push_back(*progress);
  };
  engine_->handle({2, load}, events, {});
  ASSERT_GT(seen.size(), 10U);
  EXPECT_EQ(seen.front().done, 0U);
  EXPECT_LE(seen.back().done, seen.back().total) << "what the network does not read is stored, too";
  EXPECT_GT(seen.back().done, seen.back().total / 2);
  EXPECT_LT(seen.back().total, fs::file_size(model_ + "/model.safetensors"));
  EXPECT_GT(seen.back().total, fs::file_size(model_ + "/model.safetensors") / 2);
  EXPECT_TRUE(std::ranges::is_sorted(seen, {}, &Progress::done));
}

TEST_F(WrongFolder, LeavesTheOldModelRunning) {
  refusal(scratch_.path());
  EXPECT_TRUE(run(ask("text", "full", 1.0)).last<Finished>());
}

}  // namespace
}  // namespace winnow::testing
