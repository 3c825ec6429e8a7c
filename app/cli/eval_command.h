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
  std::vector<std::string> data;  // files of questions
  std::string format = "winnow";  // of these files: winnow, or a benchmark's own
  std::string images;             // folder of a benchmark's images; empty: its usual place
  std::string paper;              // NAME or NAME:COLUMN: its values beside ours
  bool demo = false;              // the bundled questions about the sample videos
  bool needle = false;            // one card hidden in drawn videos
  std::vector<int> needle_frames = {32, 64, 128, 256};
  int needle_depths = 11;
  int needle_trials = 3;
  bool documents = false;  // facts hidden in running text
  bool held_text = false;  // running text, and how well what follows it is foreseen
  std::vector<int> document_words = {1000, 2000, 4000};
  int document_count = 40;
  std::uint64_t document_seed = 0;
  std::vector<std::string> texts;                         // files of running text; none: the licences of Debian
  std::string encoding;                                   // of these; empty: by their bytes
  std::vector<std::string> judged_by = {"own", "first"};  // whose question methods go by that compress after it
  std::vector<std::string> methods = {"full", "meda", "aircache", "vl-cache", "d2o", "snapkv", "h2o", "streaming-llm", "random"};
  std::vector<std::string> recipes;  // files of saved recipes
  std::vector<double> retentions;    // empty: 0.5, 0.2, 0.1, 0.05, 0.01; of the needle test 0.1, 0.05, 0.02, 0.01
  std::vector<std::uint64_t> seeds = {0};
  int frames = 64;
  int limit = 0;           // positive: only so many questions of each set
  Sampling sampling;       // greedy; how long answers and thoughts may be
  bool agreement = false;  // every answer against the full cache, token by token
  std::string out = "winnow-evaluation";
};

void add_eval_options(CLI::App& command, EvalOptions& options);

// Answers, scores, and writes DIR/NAME.jsonl (the log), .json, .md and .csv for every set (of the
// needle test also a heat map, -map.svg and -map.csv); the tables go to stdout, progress to stderr. What
// DIR/NAME.jsonl has already is not asked again.
ExitStatus run_eval(const EvalOptions& options);

}  // namespace winnow::cli
