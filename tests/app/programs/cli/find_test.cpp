// `find`: words in what was attached, with file and time; and a question that is put to each of many videos, from what is kept of them.
#include <gtest/gtest.h>

#include <QString>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/chats/chat/chat_database.h"
#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CliFind : public ::testing::Test {
 protected:
  // A chat with a film, and a film of a folder that is in no chat, in the data folder of the commands.
  void SetUp() override {
    const QString home = QString::fromStdString(scratch_.file("home"));
    app::ChatDatabase chats({home + QStringLiteral("/data"), home + QStringLiteral("/cache")});
    const ConversationId id = chats.createConversation(QStringLiteral("Letters"), {}).id;
    app::Attachment film{.kind = MediaKind::kVideo, .path = "/films/keeper.mp4", .sha256 = "content"};
    chats.beginTurn({id, 0, QStringLiteral("What did he write?"), {film}});
    chats.storeLines("content", app::LineKind::kHeard,
                     {{app::LineKind::kHeard, 75.0, 78.0, 0, 0, QStringLiteral("The budget was cut.")},
                      {app::LineKind::kHeard, 80.0, 82.0, 0, 0, QStringLiteral("So he wrote a letter.")}});
    chats.storeLines("other", app::LineKind::kHeard, {{app::LineKind::kHeard, 2.0, 4.0, 0, 0, QStringLiteral("The lamp is lit.")}});
    chats.storeOnShelf("other", "/films/lamp.mp4");
  }
  ScratchFolder scratch_;
};

TEST_F(CliFind, NamesFileAndTime) {
  const ProgramRun run = run_command(scratch_, "find budget");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "/films/keeper.mp4 1:15: The budget was cut.\n");
  const json told = json::parse(run_command(scratch_, "find --json budg").out);
  ASSERT_EQ(told.at("hits").size(), 1U);
  const json& hit = told["hits"][0];
  EXPECT_EQ(hit.at("file"), "/films/keeper.mp4");
  EXPECT_EQ(hit.at("kind"), "heard");
  EXPECT_EQ(hit.at("start_s"), 75.0);
  EXPECT_EQ(hit.at("title"), "Letters");
  const ProgramRun chat = run_command(scratch_, "find 'what did'");
  EXPECT_EQ(chat.out, "chat 1, Letters: What did he write?\n");
  EXPECT_EQ(run_command(scratch_, "find lamp").out, "/films/lamp.mp4 0:02: The lamp is lit.\n");
  EXPECT_TRUE(json::parse(run_command(scratch_, "find --json lamp").out).at("hits").at(0).at("chat").is_null());
  const ProgramRun none = run_command(scratch_, "find giraffe");
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("has these words"), std::string::npos);
  EXPECT_EQ(run_command(scratch_, "find").exit_code, 2);
}

TEST_F(CliFind, WhereNothingWasAttachedNothingIsFoundOrMade) {
  const ScratchFolder empty;
  EXPECT_EQ(run_command(empty, "find budget").exit_code, 0);
  EXPECT_FALSE(fs::exists(empty.file("home") + "/data/winnow.db"));
}

TEST(CliFindAsk, PutsTheQuestionToEachVideoAndReadsNoneTwice) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.file("films"));
  for (const char* film : {"ten-seconds.mp4", "half-minute.webm"})
    fs::copy_file(demo(std::string("samples/") + film), scratch.file("films") + "/" + film);
  const auto asked = [&](const std::string& question) {
    const ProgramRun run = run_command(scratch, "find --json --frames 16 --ask '" + question + "' " + shell_quoted(scratch.file("films")));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out).at("videos");
  };
  const json first = asked("Which shows a red star?");
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].at("video"), scratch.file("films") + "/half-minute.webm") << "as people count";
  for (const json& video : first) {
    EXPECT_FALSE(video.at("kept"));
    EXPECT_NE(video.at("shows"), "unclear") << video.dump();
  }
  json again = asked("Which shows a red star?");
  for (json& video : again) {
    EXPECT_TRUE(video.at("kept")) << "nothing is read again";
    video["kept"] = false;
  }
  EXPECT_EQ(again, first);
  const ProgramRun none = run_command(scratch, "find --ask 'Which shows a star?' " + shell_quoted(scratch.file("home")));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("no video in this folder"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace winnow::testing
