// The options of `winnow-cli eval`, filled by CLI11, and the command itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/exit_status.h"
#include "app/cli/turn_options.h"

namespace winnow::cli {

struct EvalOptions {
  LoadModel model;
  std::vector<std::string> data;                          // files of questions
  bool demo = false;                                      // the bundled questions about the sample videos
  std::vector<std::string> judged_by = {"own", "first"};  // of clusters: whose question methods go by that compress after it
  std::vector<std::string> methods = {"full", "meda", "aircache", "vl-cache", "d2o", "snapkv", "h2o", "streaming-llm", "random"};
  std::vector<std::string> recipes;  // files of saved recipes
  std::vector<double> retentions = {0.5, 0.2, 0.1, 0.05, 0.01};
  std::vector<std::uint64_t> seeds = {0};
  int frames = 64;
  MediaDetails detail;
  int limit = 0;           // positive: only so many questions of each set
  Sampling sampling;       // greedy; how long answers and thoughts may be
  bool agreement = false;  // every answer against the full cache, token by token
  std::string out = "winnow-evaluation";
};

void add_eval_options(CLI::App& command, EvalOptions& options);

// Answers, scores, and writes DIR/NAME.jsonl (the log) and DIR/NAME.run.json (what was asked) for every set; the scores' table goes to
// stdout, progress to stderr. What DIR/NAME.jsonl has already is not asked again.
ExitStatus run_eval(const EvalOptions& options);

}  // namespace winnow::cli
