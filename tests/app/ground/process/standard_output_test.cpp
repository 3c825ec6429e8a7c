// What cannot be written to stdout is an error, not a success without output.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/app/ground/process/running_program.h"
#include "tests/app/programs/cli/program_run.h"
#include "tests/support/comma_locale.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

// redirection: of stdout. Returns exit code and stderr.
ProgramRun run_to(const ScratchFolder& scratch, const std::string& arguments, const std::string& redirection) {
  return {.exit_code = shell("WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " + arguments + " " + redirection +
                             " 2>'" + scratch.file("err") + "' </dev/null"),
          .err = file_text(scratch.file("err"))};
}

std::string batch_of(const ScratchFolder& scratch, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "{\"questions\": [\"Hello?\"], \"max_tokens\": 2}\n";
  write_file(scratch.file("questions.jsonl"), text);
  return "batch " + shell_quoted(scratch.file("questions.jsonl"));
}

TEST(StandardOutput, AFullDeviceEndsEveryCommandWithOne) {
  const ScratchFolder scratch;
  for (const std::string& command :
       {std::string("--help"), std::string("methods"), std::string("methods --json"),
        "probe " + shell_quoted(demo("samples/ten-seconds.mp4")), std::string("plan hello"), std::string("ask --max-tokens 2 hello"),
        std::string("ask --json --max-tokens 2 hello"), std::string("compare --method full --max-tokens 2 hello"), batch_of(scratch, 2)}) {
    const ProgramRun run = run_to(scratch, command, ">/dev/full");
    EXPECT_EQ(run.exit_code, 1) << command;
    EXPECT_NE(run.err.find("standard output: No space left on device"), std::string::npos) << command << ": " << run.err;
  }
}

TEST(StandardOutput, ChatEndsToo) {
  const ScratchFolder scratch;
  ProgramRun run{.exit_code = shell("printf 'hello\\nand?\\n' | WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM +
                                    "' chat --max-tokens 2 >/dev/full 2>'" + scratch.file("err") + "'")};
  EXPECT_EQ(run.exit_code, 1) << file_text(scratch.file("err"));
}

TEST(StandardOutput, AClosedOneIsNoOtherFile) {
  const ScratchFolder scratch;
  const ProgramRun plain = run_to(scratch, "methods", ">&-");
  EXPECT_EQ(plain.exit_code, 1) << plain.err;
  EXPECT_NE(plain.err.find("standard output"), std::string::npos) << plain.err;
}

// What the window's log says of a fault that ends in a notice.
#ifdef WINNOW_PROGRAM
TEST(WindowLog, NamesTheFaultOfChatsThatDoNotOpenAndNoPath) {
  const ScratchFolder scratch;
  write_file(scratch.file("home/data/winnow.db"), std::string(5000, 'x'));
  const RunningProgram program(scratch, std::string("QT_QPA_PLATFORM=offscreen ") + WINNOW_PROGRAM);
  const auto log = [&] { return file_text(scratch.file("home/state/winnow.log")); };
  ASSERT_TRUE(RunningProgram::wait_for([&] { return log().find(" error chats code ") != std::string::npos; })) << log();
  EXPECT_EQ(log().find(scratch.file("home")), std::string::npos) << log();
}
#endif

// The programs in a locale that writes 0,5: options, logs and tables keep the decimal point.
const test::CommaLocale& comma() {
  static const test::CommaLocale locale;
  return locale;
}

ProgramRun run_in(const std::string& environment, const ScratchFolder& scratch, const std::string& arguments) {
  return {.exit_code = shell(environment + "WINNOW_HOME='" + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " + arguments + " >'" +
                             scratch.file("out") + "' 2>'" + scratch.file("err") + "' </dev/null"),
          .out = file_text(scratch.file("out")),
          .err = file_text(scratch.file("err"))};
}

// What makes the other tests mean something: another program writes a comma there, and ours has opened the locale's files.
TEST(DecimalComma, TheLocaleIsRealAndTheProgramRunsUnderIt) {
  const ScratchFolder scratch;
  ASSERT_EQ(shell(comma().environment() + "/usr/bin/printf %.1f 1,5 >" + shell_quoted(scratch.file("printed"))), 0);
  EXPECT_EQ(file_text(scratch.file("printed")), "1,5");
  ASSERT_EQ(::mkfifo(scratch.file("questions").c_str(), 0600), 0);
  // `chat` waits for a question that nobody writes.
  const RunningProgram program(scratch, comma().environment() + WINNOW_CLI_PROGRAM + " chat <>" + scratch.file("questions"));
  const std::string maps = "/proc/" + std::to_string(program.pid()) + "/maps";
  EXPECT_TRUE(RunningProgram::wait_for([&] { return file_text(maps).find(comma().path()) != std::string::npos; })) << file_text(maps);
}

TEST(DecimalComma, OptionsAreWrittenWithAPoint) {
  const ScratchFolder scratch;
  const std::string arguments = "plan --json --every 2.5 --from 0.5 --retention 0.25 --min-p 0.1 --repetition-penalty 1.1 --video " +
                                shell_quoted(demo("samples/ten-seconds.mp4")) + " 'What is the first shape?'";
  const ProgramRun plain = run_in("LC_ALL=C ", scratch, arguments);
  const ProgramRun german = run_in(comma().environment(), scratch, arguments);
  ASSERT_EQ(german.exit_code, 0) << german.err;
  EXPECT_EQ(json::parse(german.out)["media"], json::parse(plain.out)["media"]);
  EXPECT_EQ(json::parse(german.out)["kv_bytes"], json::parse(plain.out)["kv_bytes"]);
  EXPECT_EQ(run_in(comma().environment(), scratch, "plan --retention 0,25 x").exit_code, 2) << "a comma is no decimal point";
}

TEST(DecimalComma, LinesAndFiguresAreThoseOfEveryLocale) {
  const ScratchFolder scratch;
  json line = {{"video", demo("samples/ten-seconds.mp4").string()}, {"frames", 4}, {"questions", {"What is the first shape?"}}};
  std::string lines = line.dump() + "\n";
  line["recipes"] = {{{"format", "winnow-recipe"}, {"version", 1}, {"method", "h2o"}, {"retention", 0.25}}};
  lines += line.dump() + "\n";
  write_file(scratch.file("lines.jsonl"), lines);
  const std::string arguments = "batch --method h2o --retention 0.5 --max-tokens 6 " + shell_quoted(scratch.file("lines.jsonl"));
  const ProgramRun plain = run_in("LC_ALL=C ", scratch, arguments);
  const ProgramRun german = run_in(comma().environment(), scratch, arguments);
  ASSERT_EQ(german.exit_code, 0) << german.err;
  EXPECT_EQ(german.out, plain.out);
  EXPECT_NE(plain.out.find("\"retention\":0.25"), std::string::npos) << plain.out;
}

}  // namespace
}  // namespace winnow::testing
