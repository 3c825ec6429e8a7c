// `eval` on the demo model.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/app/cli/command_run.h"
#include "tests/app/cli/eval_questions.h"
#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

// A script of resources/evaluation. Prints what went wrong.
int script(const std::string& arguments) {
  return test::shell("python3 -B " + shell_quoted(source_folder() + "/resources/evaluation/") + arguments + " >/dev/null");
}

std::string quoted(const ScratchFolder& scratch, const std::string& name) { return shell_quoted(scratch.file(name)); }

TEST(Eval, ScoresAndSharesAreThoseOfAsk) {
  const ScratchFolder scratch;
  write_file(scratch.file("set.jsonl"), eval_questions());
  const ProgramRun run = run_command(scratch, "eval --limit 2 --methods vl-cache,snapkv --retentions 0.5 --out " +
                                                  quoted(scratch, "results") + " --data " + quoted(scratch, "set.jsonl"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
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
  EXPECT_NE(run.out.find("; 4 of 4 answers"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("\n| vl-cache | 50.0 | "), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("report.py " + scratch.file("results/set")), std::string::npos) << run.err;
}

TEST(Eval, SavedRecipesStandInTheTable) {
  const ScratchFolder scratch;
  write_file(scratch.file("set.jsonl"), eval_questions());
  write_file(scratch.file("mine.json"), R"({"format": "winnow-recipe", "version": 1, "name": "votes by sparsity", "method": "snapkv",
                                           "retention": 0.9, "parts": {"allocator": "sparsity"}})");
  const std::string arguments = "eval --limit 2 --methods full --retentions 0.5 --max-tokens 10 --out " + quoted(scratch, "results") +
                                " --data " + quoted(scratch, "set.jsonl") + " --recipe ";
  const ProgramRun run = run_command(scratch, arguments + quoted(scratch, "mine.json"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("\n| votes by sparsity | 50.0 | 50.0 | 2 |"), std::string::npos) << run.out;
  EXPECT_EQ(run_command(scratch, arguments + quoted(scratch, "none.json")).exit_code, 1);
}

// The scripts of resources/evaluation before and after a run.
TEST(Eval, ABenchmarksOwnFileStandsBesideThePaper) {
  const ScratchFolder scratch;
  write_file(scratch.file("val.json"), R"([{"imgname": "picture.png", "query": "What color is the star?", "label": "The star is blue."}])");
  ASSERT_EQ(script("make_set.py chartqa --images " + shell_quoted(demo("samples")) + " " + quoted(scratch, "val.json") + " " +
                   quoted(scratch, "val.jsonl")),
            0);
  const ProgramRun run = run_command(scratch, "eval --methods full,aircache --retentions 0.1 --out " + quoted(scratch, "results") +
                                                  " --data " + quoted(scratch, "val.jsonl"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(script("report.py --paper aircache:ChartQA " + quoted(scratch, "results/val")), 0);
  const std::string table = file_text(scratch.file("results/val.md"));
  EXPECT_NE(table.find("| full | 100.0 | LLaVA-OV-7B | 80.3 |"), std::string::npos) << table;
  EXPECT_NE(script("report.py --paper vl-cache:ChartQA " + quoted(scratch, "results/val")), 0) << "that paper has no ChartQA";
}

TEST(Eval, FindsTheCardThatWasDrawn) {
  const ScratchFolder scratch;
  ASSERT_EQ(script("make_set.py needle --frames 16,32 --depths 3 --trials 2 " + quoted(scratch, "needle.jsonl")), 0);
  const ProgramRun run = run_command(scratch, "eval --methods full,snapkv --retentions 0.1 --max-tokens 10 --out " +
                                                  quoted(scratch, "results") + " --data " + quoted(scratch, "needle.jsonl"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("\n| full | 100.0 | 100.0 | 12 | 100.0 |\n"), std::string::npos)
      << "the demo model's full cache reads every drawn card: " << run.out;
  ASSERT_EQ(script("report.py " + quoted(scratch, "results/needle")), 0);
  EXPECT_EQ(lines_in(scratch.file("results/needle-map.csv")), 1 + 2 * 6);
  EXPECT_NE(file_text(scratch.file("results/needle-map.svg")).find("snapkv@0.1, 32 frames, depth 100 %"), std::string::npos);
}

// Some paragraphs of two sentences each.
void write_text(const ScratchFolder& scratch, int paragraphs) {
  std::string text;
  for (int i = 0; i < paragraphs; ++i)
    text += "Paragraph " + std::to_string(i) +
            " tells in plain words what is allowed here and what is not. Whoever copies it has to say so.\n\n";
  write_file(scratch.file("text.txt"), text);
}

TEST(Eval, AsksTheQuestionsAboutOneDocumentTogether) {
  const ScratchFolder scratch;
  write_text(scratch, 8);
  ASSERT_EQ(script("make_set.py documents " + quoted(scratch, "documents.jsonl") + " --words 100 --count 1 --text " +
                   quoted(scratch, "text.txt")),
            0);
  const ProgramRun run = run_command(scratch, "eval --methods full,kvzip,snapkv --retentions 0.5 --max-tokens 3 --out " +
                                                  quoted(scratch, "results") + " --data " + quoted(scratch, "documents.jsonl"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(script("report.py " + quoted(scratch, "results/documents")), 0);
  std::vector<std::string> recipes;
  const json report = json::parse(file_text(scratch.file("results/documents.json")));
  for (const json& row : report["rows"]) {
    recipes.push_back(row["recipe"]);
    EXPECT_EQ(row["items"], 6) << row["recipe"];
  }
  EXPECT_EQ(recipes, (std::vector<std::string>{"full", "full, conversation", "kvzip@0.5", "snapkv@0.5", "snapkv, first question@0.5"}));
  EXPECT_NE(file_text(scratch.file("results/documents.md")).find("What the full cache answers wrongly:"), std::string::npos)
      << "the demo model knows nothing of gates";
}

TEST(Eval, ReadsWhatFollowsATextBehindEveryCache) {
  const ScratchFolder scratch;
  write_text(scratch, 20);
  ASSERT_EQ(script("make_set.py held-text " + quoted(scratch, "held-text.jsonl") + " --words 100 --count 1 --text " +
                   quoted(scratch, "text.txt")),
            0);
  const ProgramRun run = run_command(scratch, "eval --methods full,snapkv --retentions 1,0.5 --out " + quoted(scratch, "results") +
                                                  " --data " + quoted(scratch, "held-text.jsonl"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(script("report.py " + quoted(scratch, "results/held-text")), 0);
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
}

TEST(Eval, NamesTheScriptOfAnOptionThatMoved) {
  const ScratchFolder scratch;
  for (const auto& [arguments, command] : {std::pair{"--needle --needle-frames 16,32", "make_set.py needle SET.jsonl; then eval --data"},
                                           {"--documents --text a.txt b.txt", "make_set.py documents SET.jsonl"},
                                           {"--data a.json --format chartqa", "make_set.py milebench|docvqa|textvqa|chartqa|ai2d FILE"},
                                           {"--demo --paper aircache", "report.py RESULTS/SET --paper"}}) {
    const ProgramRun run = run_command(scratch, std::string("eval ") + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_NE(run.err.find(std::string("is now: python3 resources/evaluation/") + command), std::string::npos) << run.err;
  }
  EXPECT_EQ(run_command(scratch, "eval --help").out.find("--needle"), std::string::npos);
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
