// The commands of the terminal program: each adds itself to the command line and runs when chosen.
//
// run functions return the process's exit code and may throw Exception, which main turns into a sentence and a code.
#pragma once

#include <string>
#include <vector>

#include "app/cli/exit_status.h"
#include "app/cli/turn_options.h"

namespace winnow::cli {

enum class OutputFormat : int { kText = 1, kJson = 2 };

struct AskOptions {
  LoadModel model;
  TurnOptions turn;
  OutputFormat format = OutputFormat::kText;
  bool sample = false;  // take the first bundled sample and its first question
  bool check = false;   // then check the answer against the full cache
  std::string question;
};
ExitStatus run_ask(const AskOptions& options);

// What `ask` with the same options would take.
struct PlanOptions {
  LoadModel model;
  TurnOptions turn;
  OutputFormat format = OutputFormat::kText;
  bool sample = false;
  std::string question;
};
ExitStatus run_plan(const PlanOptions& options);

// Media read and compressed before anything is asked: what is kept, in the model's own words.
struct PrepareOptions {
  LoadModel model;
  TurnOptions turn;
  OutputFormat format = OutputFormat::kText;
};
ExitStatus run_prepare(const PrepareOptions& options);

// A source that is still running: frames are read as they come, questions are answered about all that was seen.
struct WatchOptions {
  LoadModel model;
  TurnOptions turn;  // plan.every_s between frames, recipe.budget_tokens slots to hold them within
  std::string source;
  double stall_s = 10.0;
  std::string questions;  // file of {"at": seconds, "question": text}; empty: a line of stdin each
  OutputFormat format = OutputFormat::kText;
};
ExitStatus run_watch(const WatchOptions& options);

// The same question under several recipes from one prefill.
struct CompareOptions {
  LoadModel model;
  TurnOptions turn;                  // its method is not used
  std::vector<std::string> columns;  // as column_methods.h reads them
  OutputFormat format = OutputFormat::kText;
  bool sample = false;
  bool interleaved = false;  // a token of each column in turn
  std::string question;
};
ExitStatus run_compare(const CompareOptions& options);

struct ExportOptions {
  LoadModel model;
  TurnOptions turn;
  std::string out;
  bool all_logits = false;
  std::string question;
};
ExitStatus run_export(const ExportOptions& options);

struct ChatOptions {
  LoadModel model;
  TurnOptions turn;
};
ExitStatus run_chat(const ChatOptions& options);

ExitStatus run_methods(OutputFormat format);
// What a person who reports a fault is asked for: versions and machine.
ExitStatus run_system();
// Of a media file, a text or a model. encoding: that a text is read in; empty: by its bytes.
ExitStatus run_probe(const std::string& path, const std::string& encoding, OutputFormat format);
ExitStatus run_known_models(OutputFormat format);

// One JSON object a line: {"video" or "image", "frames", "method", "retention", "questions": [..]} -> the same with "answers". Questions
// are independent conversations, or those of a line one; features of a file are computed once.
struct BatchOptions {
  LoadModel model;
  TurnOptions turn;  // defaults of what a line leaves out
  std::string file;
  bool together = false;  // the questions of a line are one conversation
};
ExitStatus run_batch(const BatchOptions& options);

}  // namespace winnow::cli
