// `eval` on the demo model.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/app/cli/command_run.h"
#include "tests/app/cli/eval_questions.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

TEST(Eval, ScoresAndSharesAreThoseOfAsk) {
  const ScratchFolder scratch;
  write_file(scratch.file("set.jsonl"), eval_questions());
  ASSERT_EQ(run_command(scratch, "eval --limit 2 --methods vl-cache,snapkv --retentions 0.5 --out " +
                                     shell_quoted(scratch.file("results")) + " --data " + shell_quoted(scratch.file("set.jsonl")))
                .exit_code,
            0);
  const ProgramRun asked = run_command(scratch, "ask --json --frames 8 --method vl-cache --retention 0.5 --video " +
                                                    shell_quoted(demo("samples/ten-seconds.mp4")) + " 'What color is the circle?'");
  const json answer = json::parse(asked.out);
  std::istringstream log(file_text(scratch.file("results/set.jsonl")));
  bool found = false;
  for (std::string line; std::getline(log, line);) {
    const json record = json::parse(line);
    if (record.value("item", "") != "2" || record.value("recipe", "") != "vl-cache@0.5") continue;
    found = true;
    EXPECT_EQ(record["answer"], answer["answer"]);
    EXPECT_EQ(record["kv_bytes"], answer["kv_bytes"]["after_event"]);
    EXPECT_EQ(record["kv_bytes_full"], answer["kv_bytes"]["full"]);
  }
  EXPECT_TRUE(found);
  const json report = json::parse(file_text(scratch.file("results/set.json")));
  EXPECT_EQ(report["answered"], 4);
  EXPECT_EQ(report["rows"][0]["requested_retention"], 0.5);
}

TEST(Eval, SavedRecipesStandInTheTable) {
  const ScratchFolder scratch;
  write_file(scratch.file("set.jsonl"), eval_questions());
  write_file(scratch.file("mine.json"), R"({"format": "winnow-recipe", "version": 1, "name": "votes by sparsity", "method": "snapkv",
                                           "retention": 0.9, "parts": {"allocator": "sparsity"}})");
  const std::string arguments = "eval --limit 2 --methods full --retentions 0.5 --max-tokens 10 --out " +
                                shell_quoted(scratch.file("results")) + " --data " + shell_quoted(scratch.file("set.jsonl")) + " --recipe ";
  const ProgramRun run = run_command(scratch, arguments + shell_quoted(scratch.file("mine.json")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(file_text(scratch.file("results/set.json")));
  ASSERT_EQ(report["rows"].size(), 2U);
  EXPECT_EQ(report["rows"][1]["method"], "votes by sparsity");
  EXPECT_EQ(report["rows"][1]["requested_retention"], 0.5);
  EXPECT_EQ(report["rows"][1]["answers"], 2);
  EXPECT_EQ(run_command(scratch, arguments + shell_quoted(scratch.file("none.json"))).exit_code, 1);
}

TEST(Eval, ABenchmarksOwnFileStandsBesideThePaper) {
  const ScratchFolder scratch;
  write_file(scratch.file("val.json"), R"([{"imgname": "picture.png", "query": "What color is the star?", "label": "The star is blue."}])");
  const std::string arguments = "eval --format chartqa --images " + shell_quoted(demo("samples")) +
                                " --methods full,aircache --retentions 0.1 --out " + shell_quoted(scratch.file("results")) + " --data " +
                                shell_quoted(scratch.file("val.json")) + " --paper ";
  const ProgramRun run = run_command(scratch, arguments + "aircache");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("| full | 100.0 | LLaVA-OV-7B | 80.3 |"), std::string::npos) << run.out;
  EXPECT_EQ(run.out, file_text(scratch.file("results/val.md")) + "\n");
  EXPECT_EQ(run_command(scratch, arguments + "vl-cache").exit_code, 1) << "that paper has no ChartQA";
}

TEST(Eval, FindsTheCardThatWasDrawn) {
  const ScratchFolder scratch;
  const ProgramRun run = run_command(scratch,
                                     "eval --needle --needle-frames 16,32 --needle-depths 3 --needle-trials 2 --methods full,snapkv "
                                     "--retentions 0.1 --max-tokens 10 --out " +
                                         shell_quoted(scratch.file("results")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(file_text(scratch.file("results/needle.json")));
  EXPECT_EQ(report["rows"][0]["items"], 12);
  EXPECT_EQ(report["rows"][0]["score"], 1.0) << "the demo model's full cache reads every drawn card";
  EXPECT_EQ(lines_in(scratch.file("results/needle-map.csv")), 1 + 2 * 6);
  EXPECT_NE(file_text(scratch.file("results/needle-map.svg")).find("snapkv@0.1, 32 frames, depth 100 %"), std::string::npos);
}

TEST(Eval, AsksAboutFactsInATextOfOnesOwn) {
  const ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += "Paragraph " + std::to_string(i) +
            " tells in plain words what is allowed here and what is not. Whoever copies it has to say so.\n\n";
  write_file(scratch.file("text.txt"), text);
  const std::string arguments =
      "eval --documents --document-words 100 --document-count 1 --methods full,kvzip,snapkv --retentions 0.5 "
      "--max-tokens 3 --out " +
      shell_quoted(scratch.file("results")) + " --text " + shell_quoted(scratch.file("text.txt"));
  const ProgramRun run = run_command(scratch, arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(file_text(scratch.file("results/documents.json")));
  std::vector<std::string> recipes;
  for (const json& row : report["rows"]) {
    recipes.push_back(row["recipe"]);
    EXPECT_EQ(row["items"], 6) << row["recipe"];
  }
  EXPECT_EQ(recipes, (std::vector<std::string>{"full", "full, conversation", "kvzip@0.5", "snapkv@0.5", "snapkv, first question@0.5"}));
  EXPECT_NE(run.out.find("What the full cache answers wrongly:"), std::string::npos) << "the demo model knows nothing of gates";
  // The text decides what is asked, even where facts and places are the same.
  write_file(scratch.file("text.txt"),
             "Now it begins with another paragraph, which is longer than twenty words, so that it counts as "
             "running text and not as one of the headings.\n\n" +
                 text);
  EXPECT_EQ(run_command(scratch, arguments).exit_code, 1);
  write_file(scratch.file("text.txt"), "Too short.\n");
  EXPECT_NE(run_command(scratch, arguments).err.find("fewer than a document of 100"), std::string::npos);
}

TEST(Eval, ReadsWhatFollowsATextBehindEveryCache) {
  const ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += "Paragraph " + std::to_string(i) +
            " tells in plain words what is allowed here and what is not. Whoever copies it has to say so.\n\n";
  write_file(scratch.file("text.txt"), text);
  const ProgramRun run = run_command(scratch,
                                     "eval --held-text --document-words 100 --document-count 1 --methods full,snapkv --retentions "
                                     "1,0.5 --out " +
                                         shell_quoted(scratch.file("results")) + " --text " + shell_quoted(scratch.file("text.txt")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(file_text(scratch.file("results/held-text.json")));
  ASSERT_EQ(report["rows"].size(), 3U);
  const double full = report["rows"][0]["perplexity"];
  EXPECT_GT(full, 1.0);
  for (const json& row : report["rows"]) {
    SCOPED_TRACE(row["recipe"]);
    EXPECT_NEAR(row["score"].get<double>(), 1.0 / row["perplexity"].get<double>(), 1e-9);
    if (row["requested_retention"] == 1.0) {
      EXPECT_EQ(row["perplexity"], full) << "everything kept";
      EXPECT_EQ(row["kl"], 0.0);
    } else {
      EXPECT_NE(row["perplexity"], full);
      EXPECT_GT(row["kl"], 0.0);
      EXPECT_LT(row["achieved_retention"], 0.7);
    }
  }
  EXPECT_EQ(run.out.find("answers wrongly"), std::string::npos);
}

TEST(Eval, RefusesWhatItCannotMeasure) {
  const ScratchFolder scratch;
  write_file(scratch.file("set.jsonl"),
             eval_questions() + "{\"media\": \"nothing.mp4\", \"question\": \"?\", \"answers\": \"x\", \"metric\": \"exact\"}\n");
  const ProgramRun bad_line =
      run_command(scratch, "eval --out " + shell_quoted(scratch.file("results")) + " --data " + shell_quoted(scratch.file("set.jsonl")));
  EXPECT_EQ(bad_line.exit_code, 1);
  EXPECT_NE(bad_line.err.find("set.jsonl:7"), std::string::npos) << bad_line.err;
  EXPECT_EQ(run_command(scratch, "eval").exit_code, 2);
  EXPECT_EQ(run_command(scratch, "eval --demo --methods no-such-method --out " + shell_quoted(scratch.file("results"))).exit_code, 1);

  // A log of other questions is not gone on with.
  write_file(scratch.file("set.jsonl"), eval_questions());
  const std::string arguments = "eval --methods full --limit 1 --max-tokens 2 --out " + shell_quoted(scratch.file("results")) + " --data " +
                                shell_quoted(scratch.file("set.jsonl"));
  ASSERT_EQ(run_command(scratch, arguments).exit_code, 0);
  const ProgramRun changed =
      run_command(scratch, "eval --methods full --limit 1 --max-tokens 3 --out " + shell_quoted(scratch.file("results")) + " --data " +
                               shell_quoted(scratch.file("set.jsonl")));
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_NE(changed.err.find("belongs to another evaluation"), std::string::npos) << changed.err;
}

}  // namespace
}  // namespace winnow::testing
