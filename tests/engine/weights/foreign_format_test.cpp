#include "engine/weights/foreign_format.h"

#include <gtest/gtest.h>

#include "engine/weights/gguf_file.h"
#include "engine/weights/safetensors.h"
#include "tests/engine/weights/safetensors_bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/scratch_folder.h"

namespace winnow::test {
namespace {

TEST(ForeignFormat, NamesPicklesUnderASafetensorsName) {
  const test::ScratchFolder folder;
  const auto open = [&](std::string bytes) { SafetensorsFile(folder.write("model.safetensors", bytes.append(100, '.'))); };
  for (const char version : {'\x02', '\x03', '\x04', '\x05'}) {
    expect_error(ErrorCode::kUnsupportedFormat, "convert the model to safetensors", [&] { open(std::string("\x80") + version + "}q"); });
  }
  expect_error(ErrorCode::kUnsupportedFormat, "convert the model to safetensors",
               [&] { open("PK\x03\x04" + std::string(26, '.') + "archive/data.pkl"); });
  expect_error(ErrorCode::kUnsupportedFormat, "GGUF", [&] { open("GGUF"); });
  expect_error(ErrorCode::kUnsupportedFormat, "TensorFlow", [&] { open("\x89HDF\r\n\x1A\n"); });
}

TEST(ForeignFormat, NamesWhatWasSavedInPlaceOfTheWeights) {
  const test::ScratchFolder folder;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, '0') + "\nsize 5000\n";
  for (const char* name : {"model.safetensors", "model.gguf"}) {
    const auto open = [&](const std::string& bytes) {
      const std::string path = folder.write(name, bytes);
      if (std::string_view(name).ends_with(".gguf")) {
        GgufFile{path};
      } else {
        SafetensorsFile{path};
      }
    };
    expect_error(ErrorCode::kNotFetched, "git lfs pull", [&] { open(pointer); });
    expect_error(ErrorCode::kNotFetched, "web page", [&] { open("<!doctype html><title>Sign in</title>"); });
    expect_error(ErrorCode::kNotFetched, "a text, not weights", [&] { open("Entry not found"); });
    expect_error(ErrorCode::kNotFetched, "empty", [&] { open(""); });
    expect_error(ErrorCode::kNotFetched, "unfinished download", [&] { open(std::string(4096, '\0')); });
    expect_error(ErrorCode::kArchive, "unpack it", [&] { open("7z\xBC\xAF\x27\x1C" + std::string(40, '\1')); });
    expect_error(ErrorCode::kUnsupportedFormat, "GGJT", [&] { open("tjgg" + std::string(40, '\1')); });
    expect_error(ErrorCode::kNoModel, "a PNG picture", [&] { open("\x89PNG\r\n\x1A\n" + std::string(40, '\1')); });
  }
}

// A download that broke off: the header is whole, the weights are not.
TEST(ForeignFormat, WeightsThatEndEarlyAreToldAsAnUnfinishedDownload) {
  const test::ScratchFolder folder;
  const std::string whole = test::safetensors(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", std::string(16, 'x'));
  expect_error(ErrorCode::kDamagedFile, "unfinished download",
               [&] { SafetensorsFile(folder.write("model.safetensors", whole.substr(0, whole.size() - 7))); });
  const std::string gguf = test::GgufWriter().tensor("a", {8}, 0, std::string(32, 'x')).bytes();
  expect_error(ErrorCode::kDamagedFile, "unfinished download",
               [&] { GgufFile(folder.write("model.gguf", gguf.substr(0, gguf.size() - 7))); });
  expect_error(ErrorCode::kDamagedFile, "unfinished download", [&] { GgufFile(folder.write("model.gguf", gguf.substr(0, 30))); });
}

TEST(ForeignFormat, AHeaderLengthThatLooksLikeAPickleIsStillRead) {
  // 0x0280 = 640 bytes of header begin with the magic of a pickle, version 2.
  const test::ScratchFolder folder;
  std::string header = "{}";
  header.resize(640, ' ');
  EXPECT_TRUE(SafetensorsFile(folder.write("f", test::safetensors(header, ""))).tensors().empty());
}

TEST(ForeignFormat, NamesWeightFilesOfAFolder) {
  for (const char* name :
       {"pytorch_model.bin", "model.pt", "model.pth", "a.ckpt", "a.pkl", "m.gguf", "m.onnx", "tf_model.h5", "flax_model.msgpack"}) {
    const test::ScratchFolder folder;
    folder.write("config.json", "{}");
    EXPECT_NO_THROW(refuse_foreign_folder(folder.path()));
    folder.write(name, "x");
    expect_error(ErrorCode::kUnsupportedFormat, name, [&] { refuse_foreign_folder(folder.path()); });
    // What to do instead: another folder, or the file itself.
    const char* advice = std::string_view(name).ends_with(".gguf") ? "choose the file" : "safetensors";
    expect_error(ErrorCode::kUnsupportedFormat, advice, [&] { refuse_foreign_folder(folder.path()); });
  }
}

}  // namespace
}  // namespace winnow::test
