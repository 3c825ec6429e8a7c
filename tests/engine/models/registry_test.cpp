#include "engine/models/registry.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "engine/base/error.h"
#include "engine/weights/safetensors_writer.h"
#include "tests/engine/models/golden_model.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// A copy of a golden folder that a test may damage.
class FolderCopy {
 public:
  explicit FolderCopy(const std::string& name) {
    std::string pattern = (fs::temp_directory_path() / "winnow-model-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
    for (const auto& entry : fs::directory_iterator(test_support::golden_folder(name) + "/model"))
      fs::copy(entry.path(), path_ / entry.path().filename());
  }
  ~FolderCopy() { fs::remove_all(path_); }

  void rewrite_weights(const std::function<void(std::map<std::string, at::Tensor>&)>& change) const {
    const std::string file = (path_ / "model.safetensors").string();
    std::map<std::string, at::Tensor> tensors;
    {
      const test_support::GoldenTensors stored(file);
      for (const std::string& name : stored.names()) tensors[name] = stored.load(name);
    }
    change(tensors);
    write_safetensors(file, {tensors.begin(), tensors.end()});
  }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / file) << text; }

  ModelSource source() const {
    ModelSource source;
    source.folder = path_.string();
    return source;
  }

 private:
  fs::path path_;
};

Error error_of(const ModelSource& source) {
  try {
    load_model(source);
  } catch (const Exception& exception) {
    return exception.error();
  }
  return {ErrorCode::kInternal, "", "it was loaded"};
}

constexpr const char* kQuery = "language_model.model.layers.1.self_attn.q_proj.weight";

TEST(Registry, NamesAnUnknownFamily) {
  const FolderCopy folder("gqa_tied");
  folder.write("config.json", R"({"architectures": ["MambaForCausalLM"], "model_type": "mamba"})");
  const Error error = error_of(folder.source());
  EXPECT_EQ(error.code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(error.reason.find("MambaForCausalLM"), std::string::npos) << error.reason;
}

TEST(Registry, AFolderWithoutTypeIsRefused) {
  const FolderCopy folder("gqa_tied");
  folder.write("config.json", "{}");
  EXPECT_EQ(error_of(folder.source()).code, ErrorCode::kUnsupportedModel);
  folder.write("config.json", R"({"architectures": 7})");
  EXPECT_EQ(error_of(folder.source()).code, ErrorCode::kDamagedFile);
}

TEST(Registry, AMissingFolderIsNotFound) {
  ModelSource source;
  source.folder = "/nonexistent/model";
  EXPECT_EQ(error_of(source).code, ErrorCode::kFileNotFound);
}

TEST(Registry, RefusesTypesThatNoModelRunsIn) {
  const FolderCopy folder("gqa_tied");
  ModelSource source = folder.source();
  source.dtype = at::kHalf;
  EXPECT_EQ(error_of(source).code, ErrorCode::kInvalidArgument);
}

TEST(Registry, AMissingTensorIsNamed) {
  const FolderCopy folder("gqa_tied");
  folder.rewrite_weights([](auto& tensors) { tensors.erase(kQuery); });
  const Error error = error_of(folder.source());
  EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
  EXPECT_NE((error.subject + error.reason).find(kQuery), std::string::npos) << error.subject << ": " << error.reason;
}

TEST(Registry, OneMissingBiasOfThreeIsAnError) {
  const FolderCopy folder("gqa_tied");
  folder.rewrite_weights([](auto& tensors) { tensors.erase("language_model.model.layers.0.self_attn.k_proj.bias"); });
  const Error error = error_of(folder.source());
  EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
  EXPECT_NE((error.subject + error.reason).find("k_proj.bias"), std::string::npos) << error.subject << ": " << error.reason;
}

TEST(Registry, AWrongShapeIsNamed) {
  const FolderCopy folder("gqa_tied");
  folder.rewrite_weights([](auto& tensors) { tensors[kQuery] = tensors[kQuery].narrow(0, 0, 24).contiguous(); });
  const Error error = error_of(folder.source());
  EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
  EXPECT_NE((error.subject + error.reason).find(kQuery), std::string::npos) << error.subject << ": " << error.reason;
}

TEST(Registry, WeightsThatAreNotNumbersAreNamed) {
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const FolderCopy folder("gqa_tied");
    folder.rewrite_weights([&](auto& tensors) { tensors[kQuery][3][5] = poison; });
    const Error error = error_of(folder.source());
    EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
    EXPECT_EQ(error.subject, kQuery);
  }
}

TEST(Registry, ProgressCountsToTheEndAndAnInterruptStopsIt) {
  const FolderCopy folder("select_default");
  ModelSource source = folder.source();
  std::uint64_t last = 0;
  std::int64_t shards = 0;
  source.progress = [&](const WeightProgress& progress) {
    EXPECT_GE(progress.read_bytes, last);
    last = progress.read_bytes;
    shards = progress.shard_count;
  };
  load_model(source);
  EXPECT_GT(last, 0U);
  EXPECT_EQ(shards, 2);
  InterruptSource cancel;
  cancel.request_cancel();
  source.interrupt = cancel.token();
  EXPECT_THROW(load_model(source), Interrupted);
}

}  // namespace
}  // namespace winnow
