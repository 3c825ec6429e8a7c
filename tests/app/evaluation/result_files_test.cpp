#include "app/evaluation/result_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::app {
namespace {

using test::expect_error;
using test::file_text;
using test::ScratchFolder;

void requireReplaceable(const ScratchFolder& scratch, const std::vector<std::string>& inputs) {
  ResultFiles(scratch.path(), "set").requireReplaceable(inputs);
}

TEST(ResultFiles, SayWhatWasAskedAndReplaceTheirOwn) {
  const ScratchFolder scratch;
  EvaluationItem item;
  item.id = "q";
  item.question = "?";
  item.golds = {"a \xff", "b"};
  item.group = "colour";
  item.cluster = "one";
  const EvaluationPlan plan{recipeGrid({"full", "snapkv"}, {0.5}), {3, 4}};
  const ResultFiles files(scratch.path(), "set");
  for (const char* model : {"first", "second"}) {
    EXPECT_NO_THROW(files.requireReplaceable({}));
    files.writeRun({"set", model}, {item}, plan);
  }
  // resources/evaluation/results.py reads this form.
  EXPECT_EQ(file_text(scratch.file("set.run.json")),
            "{\"winnow_run\":1,\"dataset\":\"set\",\"model\":\"second\",\"recipes\":["
            "{\"name\":\"full\",\"method\":\"full\",\"retention\":1.0,\"seeds\":[3]},"
            "{\"name\":\"snapkv@0.5\",\"method\":\"snapkv\",\"retention\":0.5,\"seeds\":[3,4]}],\"items\":["
            "{\"id\":\"q\",\"metric\":\"exact\",\"group\":\"colour\",\"cluster\":\"one\",\"answer\":\"a \xEF\xBF\xBD\"}]}\n");
}

TEST(ResultFiles, WhatSomebodyElseWroteIsLeftAsItIs) {
  for (const char* text : {"[{\"imgname\": \"a.png\"}]", "{\"winnow\": 1}", "", "{\n"}) {
    const ScratchFolder scratch;
    scratch.write("set.run.json", text);
    expect_error(ErrorCode::kInvalidArgument, "set.run.json: is no file of an evaluation", [&] { requireReplaceable(scratch, {}); });
    EXPECT_EQ(file_text(scratch.file("set.run.json")), text);
  }
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch.file("set.run.json"));
  expect_error(ErrorCode::kFileUnreadable, "set.run.json: it is a folder", [&] { requireReplaceable(scratch, {}); });
}

TEST(ResultFiles, AnInputIsNeverWrittenOver) {
  for (const char* name : {"set.jsonl", "set.run.json"}) {
    const ScratchFolder scratch;
    scratch.write(name, "{\"winnow_run\":1}\n");
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
