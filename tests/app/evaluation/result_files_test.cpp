#include "app/evaluation/result_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/evaluation/needle_map.h"
#include "app/evaluation/report.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::app {
namespace {

using test::expect_error;
using test::file_text;
using test::ScratchFolder;

void requireReplaceable(const ScratchFolder& scratch, const std::vector<std::string>& inputs, ResultKind kind = ResultKind::kQuestions) {
  ResultFiles(scratch.path(), "set", kind).requireReplaceable(inputs);
}

TEST(ResultFiles, OurOwnTablesAreReplaced) {
  const ScratchFolder scratch;
  Report report;
  report.dataset = "set";
  const ResultFiles files(scratch.path(), "set", ResultKind::kNeedle);
  for (const char* model : {"first", "second"}) {
    report.model = model;
    EXPECT_NO_THROW(files.requireReplaceable({}));
    files.write(ResultTable::kJson, reportJson(report));
    files.write(ResultTable::kMarkdown, reportMarkdown(report));
    files.write(ResultTable::kCsv, reportCsv(report));
    files.write(ResultTable::kMapCsv, needleCsv({}));
    files.write(ResultTable::kMapSvg, needleSvg({}, model));
  }
  EXPECT_NE(file_text(scratch.file("set.md")).find("second"), std::string::npos);
  for (const char* name : {"set.json", "set.md", "set.csv", "set-map.csv", "set-map.svg"}) {
    EXPECT_TRUE(std::filesystem::exists(scratch.file(name))) << name;
  }
}

TEST(ResultFiles, WhatSomebodyElseWroteIsLeftAsItIs) {
  const std::pair<const char*, const char*> foreign[] = {{"set.json", "[{\"imgname\": \"a.png\"}]"},
                                                         {"set.md", "# Notes\n"},
                                                         {"set.md", "## other\n\n"},
                                                         {"set.csv", "a,b\n1,2\n"},
                                                         {"set.csv", ""},
                                                         {"set.json", "{\n"}};
  for (const auto& [name, text] : foreign) {
    const ScratchFolder scratch;
    scratch.write(name, text);
    expect_error(ErrorCode::kInvalidArgument, std::string(name) + ": is no table", [&] { requireReplaceable(scratch, {}); });
    EXPECT_EQ(file_text(scratch.file(name)), text);
  }
  const ScratchFolder scratch;
  scratch.write("set-map.csv", "a,b\n");
  EXPECT_NO_THROW(requireReplaceable(scratch, {})) << "only the needle test has a map";
  expect_error(ErrorCode::kInvalidArgument, "set-map.csv", [&] { requireReplaceable(scratch, {}, ResultKind::kNeedle); });
  std::filesystem::create_directory(scratch.file("set.csv"));
  expect_error(ErrorCode::kFileUnreadable, "set.csv: it is a folder", [&] { requireReplaceable(scratch, {}); });
}

TEST(ResultFiles, AnInputIsNeverWrittenOver) {
  for (const char* name : {"set.jsonl", "set.json", "set.csv"}) {
    const ScratchFolder scratch;
    scratch.write(name, "{\n  \"dataset\": 1}\n");
    std::filesystem::create_hard_link(scratch.file(name), scratch.file("questions"));
    for (const char* input : {name, "questions"}) {
      expect_error(ErrorCode::kInvalidArgument, std::string(name) + ": is read by this evaluation", [&] {
        requireReplaceable(scratch, {scratch.file("other"), scratch.file(input)});
      });
    }
  }
}

}  // namespace
}  // namespace winnow::app
