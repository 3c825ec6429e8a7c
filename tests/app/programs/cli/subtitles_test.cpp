// --subtitles on the demo model: which lines stand between the frames, what is said where there are some and nobody asked, what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kSrt =
    "1\n00:00:01,000 --> 00:00:02,000\nA red star.\n\n2\n00:00:05,000 --> 00:00:06,500\n<i>A blue</i> circle.\n\n"
    "3\n00:01:00,000 --> 00:01:01,000\nThe film is over.\n";

class CliSubtitles : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy_file(demo("samples/ten-seconds.mp4"), film_);
    scratch_.write("film.srt", kSrt);
  }
  ProgramRun ask(const std::string& rest, const std::string& command = "ask --json --max-tokens 4") {
    return run_command(scratch_, command + " --frames 4 " + rest);
  }
  std::string video() const { return " --video " + shell_quoted(film_); }
  static json medium(const ProgramRun& run) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.exit_code == 0 ? json::parse(run.out).at("media").at(0) : json();
  }

  ScratchFolder scratch_;
  std::string film_ = scratch_.file("film.mp4");
  std::string srt_ = scratch_.file("film.srt");
  std::string question_ = " 'What is the first shape?'";
};

TEST_F(CliSubtitles, AreOfferedAndReadWhereThatIsWanted) {
  const ProgramRun plain = ask(video() + question_);
  EXPECT_EQ(medium(plain).at("subtitle_lines"), 0);
  EXPECT_NE(plain.err.find("has subtitles (" + srt_ + "): read them with --subtitles auto"), std::string::npos) << plain.err;
  const ProgramRun none = ask("--subtitles none" + video() + question_);
  EXPECT_EQ(medium(none).at("subtitle_lines"), 0);
  EXPECT_EQ(none.err.find("subtitles"), std::string::npos) << none.err;
  const ProgramRun with = ask("--subtitles auto" + video() + question_);
  EXPECT_EQ(medium(with).at("subtitle_lines"), 2) << "not what is said when the film is over";
  EXPECT_EQ(medium(with).at("subtitles"), srt_);
  EXPECT_EQ(with.err.find("has subtitles"), std::string::npos) << with.err;
  const auto attached = [](const ProgramRun& run) { return json::parse(run.out).at("tokens").at("visual").get<int>(); };
  EXPECT_GT(attached(with), attached(plain));
  const auto text = [](const ProgramRun& run) { return json::parse(run.out).at("tokens").at("text").get<int>(); };
  EXPECT_EQ(text(with), text(plain)) << "they are part of the video";
  fs::remove(srt_);
  const ProgramRun nothing = ask("--subtitles auto" + video() + question_);
  EXPECT_EQ(medium(nothing).at("subtitle_lines"), 0);
  EXPECT_NE(nothing.err.find("no subtitles beside or inside it"), std::string::npos);
}

TEST_F(CliSubtitles, AFileOfAnotherNameIsTakenToo) {
  const std::string other = scratch_.write("other.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nA green square.\n");
  EXPECT_EQ(medium(ask("--subtitles " + shell_quoted(other) + video() + question_)).at("subtitle_lines"), 1);
  const ProgramRun two = ask("--subtitles " + shell_quoted(other) + video() + video() + question_);
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_NE(two.err.find("a file belongs to one video, but there are 2"), std::string::npos) << two.err;
  const ProgramRun missing = ask("--subtitles " + shell_quoted(scratch_.file("missing.srt")) + video() + question_);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("missing.srt"), std::string::npos) << missing.err;
  const ProgramRun words = ask("--subtitles " + shell_quoted(scratch_.write("words.srt", "No times.\n")) + video() + question_);
  EXPECT_EQ(words.exit_code, 1);
  EXPECT_NE(words.err.find("words.srt: it holds no subtitles"), std::string::npos) << words.err;
}

TEST_F(CliSubtitles, WhatIsPreparedIsOfTheseLines) {
  const std::string cache = shell_quoted(scratch_.file("film.cache"));
  const std::string recipe = " --method self-study --retention 0.2 ";
  ASSERT_EQ(ask("--subtitles auto --save-cache " + cache + recipe + video(), "prepare --json").exit_code, 0);
  const ProgramRun later = ask("--load-cache " + cache + question_);
  const ProgramRun at_once = ask("--subtitles auto" + recipe + video() + question_);
  EXPECT_EQ(json::parse(later.out).at("answer"), json::parse(at_once.out).at("answer"));
  EXPECT_EQ(json::parse(later.out).at("tokens").at("visual"), 0) << "nothing was read again";
  EXPECT_EQ(medium(later).at("subtitle_lines"), 2);
  scratch_.write("film.srt", "1\n00:00:01,000 --> 00:00:02,000\nSomething else.\n");
  const ProgramRun changed = ask("--load-cache " + cache + question_);
  EXPECT_NE(changed.exit_code, 0);
  EXPECT_NE(changed.err.find("its subtitles have changed"), std::string::npos) << changed.err;
}

TEST_F(CliSubtitles, ProbeAndBatchKnowThem) {
  const ProgramRun probe = run_command(scratch_, "probe " + shell_quoted(film_));
  EXPECT_NE(probe.out.find("subtitles: " + srt_), std::string::npos) << probe.out;
  const json line = {{"video", film_}, {"frames", 4}, {"max_tokens", 2}, {"subtitles", "missing.srt"}, {"questions", {"What?"}}};
  const std::string lines = scratch_.write("lines.jsonl", line.dump() + "\n");
  EXPECT_NE(run_command(scratch_, "batch " + shell_quoted(lines)).err.find("missing.srt"), std::string::npos);
}

}  // namespace
}  // namespace winnow::testing
