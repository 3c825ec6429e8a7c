// --pin on the demo model: whatever the method drops, the pinned frame's tokens are in every kept set that `export` writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "engine/weights/safetensors.h"
#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

constexpr int kFrames = 16;

std::string video(const char* name = "ten-seconds") {
  return " --video " + shell_quoted(demo("samples/" + std::string(name) + ".mp4")) + " ";
}

std::vector<std::string> methods(const ScratchFolder& scratch) {
  std::vector<std::string> names;
  for (const json& method : json::parse(run_command(scratch, "methods --json").out)) names.push_back(method.at("name"));
  return names;
}

std::vector<std::int64_t> numbers(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor& tensor = file.tensor(name);
  std::vector<std::int64_t> values(static_cast<std::size_t>(tensor.shape.at(0)));
  file.read(tensor, 0, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST(CliPins, AFrameStaysInEveryLayerOfEveryMethodAtTwoPercent) {
  const ScratchFolder scratch;
  const std::string common =
      " --frames " + std::to_string(kFrames) + " --retention 0.02 --max-tokens 4" + video() + "'What is the first shape?'";
  const json sampled = json::parse(run_command(scratch, "ask --json --method full" + common).out);
  const std::vector<double> times = sampled["media"][0]["frames_s"];
  ASSERT_EQ(times.size(), static_cast<std::size_t>(kFrames));
  const int frame = 5;
  const std::string pin = " --pin " + std::to_string(times[frame] - 0.05) + "-" + std::to_string(times[frame] + 0.05);
  const int per_frame = (sampled["tokens"]["visual"].get<int>() - 1) / kFrames;  // a video ends with one newline embedding

  const std::vector<std::string> names = methods(scratch);
  ASSERT_GE(names.size(), 25U);
  for (const std::string& method : names) {
    const std::string out = scratch.file(method + ".safetensors");
    const ProgramRun run = run_command(scratch, "export --out " + shell_quoted(out) + pin + " --method " + method + common);
    ASSERT_EQ(run.exit_code, 0) << method << ": " << run.err;
    EXPECT_NE(run.err.find("pinned: " + std::to_string(per_frame) + " tokens"), std::string::npos) << method << ": " << run.err;
    const SafetensorsFile file(out);
    // The frame's tokens: the first visual token and what the method left of the frames before it.
    const std::vector<std::int64_t> ids = numbers(file, "input_ids");
    const std::int64_t visual_id = *std::max_element(ids.begin(), ids.end(), [&](std::int64_t a, std::int64_t b) {
      return std::count(ids.begin(), ids.end(), a) < std::count(ids.begin(), ids.end(), b);
    });
    const auto first = std::find(ids.begin(), ids.end(), visual_id) - ids.begin();
    const bool before_decoder = method == "fastervlm" || method == "ivtp";
    int sets = 0;
    int shortened = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      if (!name.starts_with("kept.")) continue;
      ++sets;
      const std::vector<std::int64_t> kept = numbers(file, name);
      if (before_decoder) {
        // Tokens that never reached the decoder have no index: as many as the frame has must be there.
        EXPECT_GE(std::count_if(kept.begin(), kept.end(),
                                [&](std::int64_t token) { return ids.at(static_cast<std::size_t>(token)) == visual_id; }),
                  per_frame)
            << method << " " << name;
        continue;
      }
      for (int token = 0; token < per_frame; ++token) {
        ASSERT_TRUE(std::binary_search(kept.begin(), kept.end(), first + frame * per_frame + token))
            << method << " " << name << " token " << token;
      }
      shortened += kept.size() < ids.size() ? 1 : 0;
    }
    EXPECT_GT(sets, 0) << method;
    if (!before_decoder && method != "full") {
      EXPECT_GT(shortened, 0) << method;
    }
  }
}

TEST(CliPins, AreSaidAsNumbersAndInWords) {
  const ScratchFolder scratch;
  const std::string common = " --frames 8 --max-tokens 4 --method snapkv --retention 0.3" + video() + "'What is the first shape?'";
  const json nothing = json::parse(run_command(scratch, "ask --json" + common).out);
  EXPECT_EQ(nothing["pinned"], 0);
  const json all = json::parse(run_command(scratch, "ask --json --pin 1" + common).out);
  EXPECT_EQ(all["pinned"], all["tokens"]["visual"].get<int>() - 1) << "all frames";
  EXPECT_EQ(all["notes"], json({"pins_above_budget"}));
  EXPECT_GT(all["achieved_retention"].get<double>(), 0.8);
  const ProgramRun words = run_command(scratch, "ask --pin 1:0-100" + common);
  EXPECT_NE(words.err.find("note: kept more than asked: the pinned parts alone need more"), std::string::npos) << words.err;
  const json columns =
      json::parse(run_command(scratch, "compare --json --pin 1 --method full --method h2o@0.1" + std::string(" --frames 8 --max-tokens 4") +
                                           video() + "'What is the first shape?'")
                      .out)["columns"];
  for (const json& column : columns) EXPECT_EQ(column["pinned"], all["pinned"]);
}

TEST(CliPins, OfAnImageKeepAllOfIt) {
  const ScratchFolder scratch;
  std::filesystem::path image;
  for (const auto& entry : std::filesystem::directory_iterator(demo("samples"))) {
    if (entry.path().extension() == ".png" || entry.path().extension() == ".jpg") image = entry.path();
  }
  ASSERT_FALSE(image.empty());
  const ProgramRun run = run_command(
      scratch, "ask --json --max-tokens 4 --method h2o --retention 0.1 --pin 1 --image " + shell_quoted(image) + " 'What is it?'");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["pinned"], answer["tokens"]["visual"]);
  for (const json& layer : answer["layers"]) EXPECT_GE(layer["kept_visual"], answer["tokens"]["visual"]);
}

TEST(CliPins, ThatMakeNoSenseAreRefused) {
  const ScratchFolder scratch;
  const std::string ask = "ask --frames 4 --max-tokens 4 ";
  for (const char* wrong : {"nonsense", "5-", "-5", "7-5", "0", "1:", ":1-2", "1:2", "1-2-3", "nan-2"}) {
    const ProgramRun run = run_command(scratch, ask + "--pin " + wrong + video() + "'Which?'");
    EXPECT_EQ(run.exit_code, 2) << wrong << ": " << run.err;
  }
  const auto refused = [&](const std::string& arguments, const std::string& sentence) {
    const ProgramRun run = run_command(scratch, ask + arguments + "'Which?'");
    EXPECT_EQ(run.exit_code, 1) << arguments;
    EXPECT_NE(run.err.find(sentence), std::string::npos) << run.err;
  };
  refused("--pin 200-300" + video(), "no frame was taken between 200.00 s and 300.00 s; the nearest one shows");
  refused("--pin 2" + video(), "number 2 is pinned, but the conversation has one thing attached");
  refused("--pin 1-2" + video() + video(), "there are several videos; say which one: --pin 1:1-2");
  refused("--pin 1-2 ", "there is no video for these seconds");
  refused("--pin 1:1-2 --image " + shell_quoted(demo("samples/picture.png")) + " ", "an image has no seconds; pin all of it with --pin 1");
}

}  // namespace
}  // namespace winnow::testing
