// Two models are told apart by whatever may differ between them, and by nothing else that lies in the folder.
#include "app/engine/cache_store/model_fingerprint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

class Fingerprint : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("winnow-fingerprint-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    write("config.json", "{}");
    write("model.safetensors", std::string(kLarge, 'w'));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name, std::ios::binary) << text; }
  void change(const std::string& name, std::size_t at, std::size_t bytes) const {
    std::fstream file(folder_ / name, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(bytes, 'v');
  }
  std::string found(const std::string& weights = "bf16") const { return modelFingerprint(folder_.string(), weights); }

  static constexpr std::size_t kLarge = std::size_t{80} << 20;
  fs::path folder_;
};

TEST_F(Fingerprint, AFineTuneWithAFrozenTailIsAnotherModel) {
  const std::string before = found();
  EXPECT_EQ(found(), before);
  change("model.safetensors", std::size_t{30} << 20, std::size_t{2} << 20);  // header and the last 48 MiB are the same
  EXPECT_NE(found(), before);
}

TEST_F(Fingerprint, HeaderEndDocumentsAndFormatCount) {
  std::string before = found();
  const auto differs = [&](const char* what) {
    const std::string now = found();
    EXPECT_NE(now, before) << what;
    before = now;
  };
  change("model.safetensors", 100, 1);
  differs("header");
  change("model.safetensors", kLarge - 1, 1);
  differs("end");
  write("tokenizer.json", "[]");
  differs("tokenizer");
  write("chat_template.jinja", "{{ 1 }}");
  differs("template");
  write("chat_template.jinja", "{{ 2 }}");
  differs("template of the same length");
  EXPECT_NE(found("int4"), found("bf16"));
}

TEST_F(Fingerprint, OnlyFilesThatWeightsAreReadFromAreOpened) {
  const std::string before = found();
  ASSERT_EQ(::mkfifo((folder_ / "extra.safetensors").c_str(), 0600), 0);  // would block for ever
  ASSERT_EQ(::mkfifo((folder_ / "extra.json").c_str(), 0600), 0);
  fs::create_directory(folder_ / "folder.safetensors");
  fs::create_symlink("/dev/zero", folder_ / "zero.safetensors");
  EXPECT_EQ(found(), before);
}

// Such a model does not load.
TEST_F(Fingerprint, ADocumentBehindALinkOutOfTheFolderIsRefused) {
  const fs::path shared = folder_.string() + "-shared.json";
  std::ofstream(shared) << "{}";
  fs::remove(folder_ / "config.json");
  fs::create_symlink(shared, folder_ / "config.json");
  EXPECT_THROW(found(), Exception);
  fs::remove(shared);
}

TEST_F(Fingerprint, ALinkToNothingIsNoDocument) {
  const std::string before = found();
  fs::create_symlink("nothing", folder_ / "extra.json");
  EXPECT_EQ(found(), before);
}

TEST_F(Fingerprint, OfShardsAllCount) {
  fs::remove(folder_ / "model.safetensors");
  write("a.safetensors", "a");
  write("b.safetensors", "b");
  write("model.safetensors.index.json", R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
  const std::string before = found();
  write("b.safetensors", "c");
  EXPECT_NE(found(), before);
  fs::remove(folder_ / "b.safetensors");
  ASSERT_EQ(::mkfifo((folder_ / "b.safetensors").c_str(), 0600), 0);
  EXPECT_THROW(found(), Exception);
}

}  // namespace
}  // namespace winnow::app
