#include "engine/model_files/open_package.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "engine/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

Error problem_of(const std::string& folder) {
  try {
    open_package(folder);
  } catch (const Exception& exception) {
    return exception.error();
  }
  return {ErrorCode::kInternal, "", "nothing was thrown"};
}

void make_model(const test::ScratchFolder& scratch, const std::string& folder) {
  fs::create_directories(scratch.file(folder));
  scratch.write(folder + "/config.json", "{}");
  scratch.write(folder + "/model.safetensors", "");
}

TEST(OpenPackage, AFolderWithAConfigurationIsLeftToTheLoaders) {
  const test::ScratchFolder scratch;
  scratch.write("config.json", "not even JSON");
  EXPECT_NO_THROW(open_package(scratch.path()));
  EXPECT_NO_THROW(open_package(scratch.path() + "/"));
}

TEST(OpenPackage, NothingAtThePath) {
  const Error error = problem_of("/nonexistent/model");
  EXPECT_EQ(error.code, ErrorCode::kModelFolderMissing);
  EXPECT_EQ(error.subject, "/nonexistent/model");
  EXPECT_EQ(problem_of("").code, ErrorCode::kModelFolderMissing);
}

TEST(OpenPackage, AFolderOfSomethingElse) {
  const test::ScratchFolder scratch;
  EXPECT_EQ(problem_of(scratch.path()).code, ErrorCode::kNoModel);
  scratch.write("clip.mp4", "x");
  fs::create_directory(scratch.file("more"));
  scratch.write("more/config.json", "{}");  // a configuration of some program
  const Error error = problem_of(scratch.path());
  EXPECT_EQ(error.code, ErrorCode::kNoModel);
  EXPECT_EQ(error.subject, scratch.path());
  EXPECT_NE(error.reason.find("config.json"), std::string::npos);
}

TEST(OpenPackage, AFileInPlaceOfItsFolder) {
  const test::ScratchFolder scratch;
  const std::string file = scratch.write("model.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  EXPECT_EQ(problem_of(file).code, ErrorCode::kNoModel);
  EXPECT_EQ(problem_of(file).subject, file);
  EXPECT_NE(problem_of(file).reason.find("choose the folder"), std::string::npos);
}

// What cannot be read is told as that, not as something that it might be.
TEST(OpenPackage, AFileThatCannotBeReadOrHoldsNothing) {
  const test::ScratchFolder scratch;
  const std::string empty = scratch.write("model.gguf", "");
  EXPECT_EQ(problem_of(empty).code, ErrorCode::kNotFetched);
  EXPECT_NE(problem_of(empty).reason.find("empty"), std::string::npos);
  const std::string fifo = scratch.file("pipe.gguf");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(problem_of(fifo).code, ErrorCode::kFileUnreadable);
  const std::string noise = scratch.write("noise.gguf", std::string("\x01\x02\x03\x04\0\x99", 6));
  EXPECT_EQ(problem_of(noise).code, ErrorCode::kDamagedFile);
  EXPECT_NE(problem_of(noise).reason.find("does not begin as a GGUF file"), std::string::npos);
  if (::geteuid() == 0) return;  // may read everything
  std::filesystem::permissions(noise, std::filesystem::perms::none);
  EXPECT_EQ(problem_of(noise).code, ErrorCode::kFileUnreadable);
}

TEST(OpenPackage, DocumentsThatWereNotFetched) {
  const test::ScratchFolder scratch;
  scratch.write("config.json", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  test::expect_error(ErrorCode::kNotFetched, "git lfs pull", [&] { open_package(scratch.path())->document(ModelPart::kConfig); });
  scratch.write("config.json", "{}");
  scratch.write("chat_template.jinja", "<!DOCTYPE html><html>Sign in</html>");
  // Else the page would be the prompt.
  test::expect_error(ErrorCode::kNotFetched, "web page", [&] { open_package(scratch.path())->chat_template(""); });
}

TEST(OpenPackage, DownloadsThatHaveNotEnded) {
  const test::ScratchFolder scratch;
  EXPECT_EQ(problem_of(scratch.write("model.gguf.part", "\1\2\3")).code, ErrorCode::kNotFetched);
  const std::string file = scratch.write("model.gguf", "GGUF");
  scratch.write("model.gguf.aria2", "x");
  EXPECT_EQ(problem_of(file).code, ErrorCode::kNotFetched);
}

TEST(OpenPackage, WeightsOfAnotherFormat) {
  const test::ScratchFolder scratch;
  const std::string file = scratch.write("llava-q4.onnx", "ONNX");
  for (const std::string& chosen : {file, scratch.path()}) {
    const Error error = problem_of(chosen);
    EXPECT_EQ(error.code, ErrorCode::kUnsupportedFormat);
    EXPECT_EQ(error.subject, file);
    EXPECT_NE(error.reason.find("ONNX"), std::string::npos) << error.reason;
  }
}

// The smallest file that is a model: its tensors are looked for when it is loaded.
std::string small_gguf() {
  return test::GgufWriter()
      .text("general.architecture", "llama")
      .uint32("llama.block_count", 1)
      .uint32("llama.context_length", 64)
      .uint32("llama.embedding_length", 8)
      .uint32("llama.feed_forward_length", 8)
      .uint32("llama.attention.head_count", 2)
      .texts("tokenizer.ggml.tokens", {"a", "b"})
      .bytes();
}

TEST(OpenPackage, AGgufFileIsAModelWhateverItsName) {
  const test::ScratchFolder scratch;
  EXPECT_EQ(open_package(scratch.write("model-Q4_K_M.gguf", small_gguf()))->name(), "model-Q4_K_M");
  EXPECT_EQ(open_package(scratch.write("sha256-0123", small_gguf()))->name(), "sha256-0123");
  const Error damaged = problem_of(scratch.write("damaged.gguf", "GGUF"));
  EXPECT_EQ(damaged.code, ErrorCode::kDamagedFile);
}

TEST(OpenPackage, AFolderOfOneGgufFileStandsForIt) {
  const test::ScratchFolder scratch;
  fs::create_directories(scratch.file("publisher/repository"));
  const std::string file = scratch.write("publisher/repository/model.gguf", small_gguf());
  scratch.write("publisher/repository/mmproj-model.gguf", "GGUF");
  EXPECT_EQ(open_package(scratch.file("publisher/repository"))->path(), file);
  EXPECT_EQ(problem_of(scratch.path()).code, ErrorCode::kModelInside);
  EXPECT_EQ(problem_of(scratch.path()).subject, file);
  scratch.write("publisher/repository/other-00001-of-00002.gguf", "GGUF");
  scratch.write("publisher/repository/other-00002-of-00002.gguf", "GGUF");
  const Error two = problem_of(scratch.file("publisher/repository"));
  EXPECT_EQ(two.code, ErrorCode::kModelInside);
  EXPECT_NE(two.reason.find("2 models"), std::string::npos) << two.reason;
}

TEST(OpenPackage, TheFolderAboveNamesTheModelInIt) {
  const test::ScratchFolder scratch;
  make_model(scratch, "models/demo");
  for (const char* chosen : {"models", ""}) {
    const Error error = problem_of(scratch.file(chosen));
    EXPECT_EQ(error.code, ErrorCode::kModelInside);
    EXPECT_EQ(fs::path(error.subject), fs::path(scratch.file(chosen)) / (chosen[0] == '\0' ? "models/demo" : "demo"));
  }
  make_model(scratch, "models/another");
  const Error two = problem_of(scratch.file("models"));
  EXPECT_EQ(two.subject, scratch.file("models/another"));
  EXPECT_NE(two.reason.find("2 models"), std::string::npos) << two.reason;
}

TEST(OpenPackage, AHuggingFaceCacheIsSearchedDownToItsRevisions) {
  const test::ScratchFolder scratch;
  make_model(scratch, "hub/models--a--b/snapshots/0123");
  EXPECT_EQ(problem_of(scratch.file("hub")).subject, scratch.file("hub/models--a--b/snapshots/0123"));
  make_model(scratch, "deep/1/2/3/model");
  EXPECT_EQ(problem_of(scratch.file("deep")).code, ErrorCode::kNoModel);
}

TEST(OpenPackage, LinksLeadNowhere) {
  const test::ScratchFolder scratch;
  fs::create_directory(scratch.file("loop"));
  fs::create_directory_symlink(scratch.file("loop"), scratch.file("loop/again"));
  EXPECT_EQ(problem_of(scratch.file("loop")).code, ErrorCode::kNoModel);
}

}  // namespace
}  // namespace winnow
