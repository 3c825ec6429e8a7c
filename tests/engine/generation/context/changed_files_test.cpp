// A loaded model's files that another program overwrites, shortens or replaces: weights that are used where they lie end the request with
// an error that names the file, weights that were read stay what they were.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/packed_gguf.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

void overwrite(const std::string& file) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
  bytes << std::string(fs::file_size(file) / 4, 'x');
}
void shorten(const std::string& file) { fs::resize_file(file, 1); }
void replace(const std::string& file) {
  std::ofstream(file + ".new") << "another model";
  fs::rename(file + ".new", file);
}

class ChangedFiles : public ::testing::Test {
 protected:
  static constexpr const char* kFolder = "smolvlm/smolvlm2_split";

  std::string copy(const std::string& name) const {
    const std::string path = scratch_.file(fs::path(name).filename().string());
    fs::remove_all(path);
    fs::copy(test_support::golden_folder(kFolder) + name, path, fs::copy_options::recursive);
    return path;
  }
  // With its matrices in blocks.
  std::string packed(const std::string& name) const {
    return scratch_.write(name, in_blocks(test_support::golden_folder(kFolder) + "/gguf/" + name, [](const std::string&) { return true; }));
  }

  EventRecorder post(const RequestBody& body, const std::function<void(const Event&)>& hook = {}) {
    EventRecorder events;
    events.hook = hook;
    engine_->handle({1, body}, events, InterruptToken());
    return events;
  }
  EventRecorder load(const std::string& model, WeightFormat format, const std::string& projector = {},
                     const std::function<void(const Event&)>& hook = {}) {
    LoadModel request{.folder = model, .device = Device::kCpu, .format = format, .projector = projector};
    return post(request, hook);
  }
  // The same again, from nothing.
  EventRecorder ask() {
    post(ForgetConversation{7});
    Turn turn;
    turn.conversation = 7;
    turn.messages = {golden_.message("image", opener_)};
    turn.recipe.method = "full";
    turn.recipe.retention = 1.0;
    turn.sampling.max_new_tokens = 16;
    return post(turn);
  }

  void expect_no_matter(const std::string& file) {
    const EventRecorder before = ask();
    ASSERT_TRUE(before.last<Finished>()) << (before.last<Failed>() ? before.last<Failed>()->error.reason : "no outcome");
    for (const auto& change : {overwrite, shorten, replace}) {
      change(file);
      const EventRecorder after = ask();
      ASSERT_TRUE(after.last<Finished>()) << (after.last<Failed>() ? after.last<Failed>()->error.reason : "no outcome");
      EXPECT_EQ(after.streamed(), before.streamed());
    }
  }
  void expect_named(const EventRecorder& events, const std::string& file) {
    ASSERT_TRUE(events.last<Failed>());
    EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kModelFileChanged) << events.last<Failed>()->error.reason;
    EXPECT_EQ(events.last<Failed>()->error.subject, file);
    EXPECT_NE(events.last<Failed>()->error.reason.find("loaded again"), std::string::npos);
  }

  const test::ScratchFolder scratch_;
  const GoldenFolder golden_{kFolder};
  MemoryMediaOpener opener_;
  const std::unique_ptr<Engine> engine_ = make_engine(&opener_);
};

TEST_F(ChangedFiles, OfAFolderAreNoMatterOnceTheyWereRead) {
  for (const WeightFormat format : {WeightFormat::kAuto, WeightFormat::kFp32, WeightFormat::kInt8, WeightFormat::kInt4}) {
    SCOPED_TRACE(static_cast<int>(format));
    const std::string folder = copy("/model");
    ASSERT_TRUE(load(folder, format).last<ModelLoaded>());
    expect_no_matter(folder + "/model.safetensors");
  }
}

TEST_F(ChangedFiles, OfAFolderEndItsLoadingWhileTheyAreRead) {
  const std::string folder = copy("/model");
  bool changed = false;
  const EventRecorder events = load(folder, WeightFormat::kAuto, {}, [&](const Event& event) {
    if (std::holds_alternative<Progress>(event.body) && !std::exchange(changed, true)) overwrite(folder + "/model.safetensors");
  });
  expect_named(events, folder + "/model.safetensors");
}

TEST_F(ChangedFiles, OfAProjectorInNumbersAreNoMatter) {
  const std::string model = copy("/gguf/model.gguf"), projector = copy("/gguf/mmproj-model.gguf");
  ASSERT_TRUE(load(model, WeightFormat::kAuto, projector).last<ModelLoaded>());
  expect_no_matter(projector);
  expect_no_matter(model);
}

TEST_F(ChangedFiles, OfBlocksThatWereDequantisedAreNoMatter) {
  const std::string model = packed("model.gguf"), projector = packed("mmproj-model.gguf");
  ASSERT_TRUE(load(model, WeightFormat::kFp32, projector).last<ModelLoaded>());
  expect_no_matter(projector);
  expect_no_matter(model);
}

// The projector's blocks lie in its file as the model's do.
TEST_F(ChangedFiles, OfBlocksThatAreUsedInPlaceEndTheRequest) {
  for (const char* const changed : {"mmproj-model.gguf", "model.gguf"}) {
    for (const auto& change : {overwrite, shorten}) {
      const std::string model = packed("model.gguf"), projector = packed("mmproj-model.gguf");
      ASSERT_TRUE(load(model, WeightFormat::kAuto, projector).last<ModelLoaded>());
      const std::string before = ask().streamed();
      change(scratch_.file(changed));
      expect_named(ask(), scratch_.file(changed));
      expect_named(ask(), scratch_.file(changed));
      packed(changed);
      ASSERT_TRUE(load(model, WeightFormat::kAuto, projector).last<ModelLoaded>());
      EXPECT_EQ(ask().streamed(), before);
    }
  }
}

// A download or an editor puts another file under the name: the one that is in use is not touched.
TEST_F(ChangedFiles, OfAnotherFileUnderTheNameAreNoMatter) {
  const std::string model = packed("model.gguf"), projector = packed("mmproj-model.gguf");
  ASSERT_TRUE(load(model, WeightFormat::kAuto, projector).last<ModelLoaded>());
  const std::string before = ask().streamed();
  replace(model);
  replace(projector);
  EXPECT_EQ(ask().streamed(), before);
}

}  // namespace
}  // namespace winnow::testing
