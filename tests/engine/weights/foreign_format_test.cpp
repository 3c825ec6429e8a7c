#include "engine/weights/foreign_format.h"

#include <gtest/gtest.h>

#include "engine/weights/safetensors.h"
#include "tests/engine/weights/safetensors_bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

using test::expect_error;

TEST(ForeignFormat, NamesPicklesUnderASafetensorsName) {
  const test::ScratchFolder folder;
  const auto open = [&](std::string bytes) { SafetensorsFile(folder.write("model.safetensors", bytes.append(100, '.'))); };
  for (const char version : {'\x02', '\x03', '\x04', '\x05'}) {
    expect_error(ErrorCode::kUnsupportedFormat, "convert the model to safetensors", [&] { open(std::string("\x80") + version + "}q"); });
  }
  expect_error(ErrorCode::kUnsupportedFormat, "convert the model to safetensors", [&] { open("PK\x03\x04"); });
  expect_error(ErrorCode::kUnsupportedFormat, "GGUF", [&] { open("GGUF"); });
  expect_error(ErrorCode::kUnsupportedFormat, "TensorFlow", [&] { open("\x89HDF"); });
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
}  // namespace winnow
