// Ten hostile inputs through the terminal program: exit code 1, one sentence that names the file and the reason, no crash.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace winnow::testing {
namespace {

class HostileInput : public ::testing::Test {
 protected:
  void refused(const std::string& arguments, const std::string& named, const std::vector<std::string>& reason_has_one_of) {
    const ProgramRun run = run_cli(scratch_, arguments);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_TRUE(run.out.empty()) << run.out;
    EXPECT_NE(run.err.find(named), std::string::npos) << run.err;
    bool found = false;
    for (const std::string& words : reason_has_one_of) found = found || run.err.find(words) != std::string::npos;
    EXPECT_TRUE(found) << run.err;
    // The sentence is the last line; progress may stand before it.
    EXPECT_NE(run.err.find("winnow-cli: "), std::string::npos) << run.err;
  }

  void refused_video(const std::filesystem::path& file, const std::vector<std::string>& words) {
    refused("ask --video " + shell_quoted(file) + " hello", file.filename().string(), words);
  }

  // A copy of the demo model in which one file can be spoilt.
  std::filesystem::path model_copy() {
    const std::filesystem::path copy = scratch_.file("model");
    std::filesystem::copy(demo("model"), copy, std::filesystem::copy_options::recursive);
    return copy;
  }
  void refused_model(const std::filesystem::path& folder, const std::string& named, const std::vector<std::string>& words) {
    refused("ask --model " + shell_quoted(folder) + " hello", named, words);
  }

  ScratchFolder scratch_;
};

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  return bytes;
}

TEST_F(HostileInput, TruncatedMp4) {
  // The index of an ordinary mp4 stands at the end.
  ASSERT_EQ(shell("ffmpeg -v error -y -f lavfi -i testsrc=size=64x48:rate=10:duration=3 -pix_fmt yuv420p " +
                  shell_quoted(scratch_.file("whole.mp4"))),
            0);
  write_file(scratch_.file("cut.mp4"), file_text(scratch_.file("whole.mp4")).substr(0, 2000));
  refused_video(scratch_.file("cut.mp4"), {"missing", "cut", "damaged"});
}

TEST_F(HostileInput, TextRenamedToMp4) {
  write_file(scratch_.file("text.mp4"), "This is not a video.\n");
  refused_video(scratch_.file("text.mp4"), {"not a", "text", "format"});
}

TEST_F(HostileInput, EmptyFile) {
  write_file(scratch_.file("empty.mp4"), "");
  refused_video(scratch_.file("empty.mp4"), {"empty"});
}

TEST_F(HostileInput, HugePng) {
  // 30,000 x 30,000 in the header; nothing behind it needs to exist.
  std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x75\x30\0\0\x75\x30\x08\x02\0\0\0", 29);
  png += std::string("\x4a\x9b\x2c\x1d", 4) + std::string(2000, '\0');
  write_file(scratch_.file("huge.png"), png);
  refused("ask --image " + shell_quoted(scratch_.file("huge.png")) + " hello", "huge.png", {"30000", "pixel", "large", "Mpx"});
}

TEST_F(HostileInput, PlaylistPointingAtALocalFile) {
  write_file(scratch_.file("list.mp4"), "#EXTM3U\n#EXTINF:10,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n");
  refused_video(scratch_.file("list.mp4"), {"playlist"});
}

TEST_F(HostileInput, SafetensorsWithOverlappingOffsets) {
  const std::filesystem::path model = model_copy();
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  write_file(model / "model.safetensors", little_endian(header.size()) + header + std::string(12, '\0'));
  refused_model(model, "model.safetensors", {"overlap", "hole", "contiguous", "follow", "begin"});
}

TEST_F(HostileInput, SafetensorsHeaderLengthOfTwoToTheSixtyThree) {
  const std::filesystem::path model = model_copy();
  write_file(model / "model.safetensors", little_endian(std::uint64_t{1} << 63) + "{}");
  refused_model(model, "model.safetensors", {"header"});
}

TEST_F(HostileInput, ConfigWithZeroHeads) {
  const std::filesystem::path model = model_copy();
  nlohmann::json config = nlohmann::json::parse(file_text(model / "config.json"));
  config["text_config"]["num_attention_heads"] = 0;
  write_file(model / "config.json", config.dump());
  refused_model(model, "num_attention_heads", {"0", "least", "positive"});
}

TEST_F(HostileInput, MissingShard) {
  const std::filesystem::path model = model_copy();
  std::filesystem::remove(model / "model.safetensors");
  write_file(model / "model.safetensors.index.json",
             R"({"metadata":{},"weight_map":{"image_newline":"model-00001-of-00002.safetensors"}})");
  refused_model(model, "model-00001-of-00002.safetensors", {"missing", "not exist", "does not", "no such"});
}

TEST_F(HostileInput, PickledWeights) {
  const std::filesystem::path model = model_copy();
  std::filesystem::remove(model / "model.safetensors");
  write_file(model / "pytorch_model.bin", "PK\x03\x04 pickled");
  refused_model(model, "model", {"safetensors"});
}

}  // namespace
}  // namespace winnow::testing
