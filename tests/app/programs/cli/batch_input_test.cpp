// Files of questions that another program wrote: what `batch` refuses, and how it says so.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace winnow::testing {
namespace {

ProgramRun batch(const ScratchFolder& scratch, const std::string& line) {
  write_file(scratch.file("questions.jsonl"), line);
  return run_cli(scratch, "batch --max-tokens 2 " + shell_quoted(scratch.file("questions.jsonl")));
}

TEST(BatchInput, WhatIsNoFileOfLinesIsNoEmptyFile) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  const std::pair<std::string, std::string> cases[] = {{"/", "it is a folder"},
                                                       {"/dev/zero", "not a regular file"},
                                                       {scratch.file("pipe"), "not a regular file"},
                                                       {"/nowhere", "not exist"}};
  for (const auto& [file, reason] : cases) {
    const ProgramRun run = run_cli(scratch, "batch " + shell_quoted(file));
    EXPECT_EQ(run.exit_code, 1) << file;
    EXPECT_NE(run.err.find(file + ": "), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(reason), std::string::npos) << run.err;
  }
  EXPECT_EQ(shell(std::string(WINNOW_CLI_PROGRAM) + " batch - </ 2>" + shell_quoted(scratch.file("err"))), 1) << "a read error";
  EXPECT_EQ(shell("head -c 5000000 /dev/zero | " + std::string(WINNOW_CLI_PROGRAM) + " batch - 2>" + shell_quoted(scratch.file("err"))), 1);
  EXPECT_NE(file_text(scratch.file("err")).find("stdin:1: the line is longer than 4 MiB"), std::string::npos);
}

TEST(BatchInput, NamesLineAndFieldWithoutTheParsersWords) {
  const ScratchFolder scratch;
  const ProgramRun run = batch(scratch, "\n{\"questions\": [\"a\"], \"max_tokens\": 4294967298}\n");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("questions.jsonl:2: max_tokens: it is 4294967298, more than"), std::string::npos) << run.err;
  write_file(scratch.file("deep.jsonl"), "{\"questions\": [\"a\"], \"x\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  const ProgramRun deep = run_cli(scratch, "batch " + shell_quoted(scratch.file("deep.jsonl")));
  EXPECT_EQ(deep.exit_code, 1);
  EXPECT_NE(deep.err.find("deep.jsonl:1: the file nests deeper than 64"), std::string::npos) << deep.err;
}

TEST(BatchInput, ALineComesBackAsItWasWithAnswers) {
  const ScratchFolder scratch;
  const ProgramRun run = batch(scratch, R"({"id": 1, "questions": ["Hello?"], "about": {"y": null, "b": [1.5]}})");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find(R"({"id":1,"questions":["Hello?"],"about":{"y":null,"b":[1.5]},"answers":[)"), 0U) << run.out;
}

TEST(BatchInput, OptionsWithoutADigitMoreThanAPersonReads) {
  const ScratchFolder scratch;
  for (const char* arguments : {"ask --repetition-penalty 0 x", "ask --temperature nan x", "ask --every inf x", "ask --retention nan x",
                                "ask --frames 4294967297 x"}) {
    const ProgramRun run = run_cli(scratch, arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_LT(run.err.size(), 150U) << run.err;
    EXPECT_NE(run.err.find("must "), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace winnow::testing
