#include "app/cli/eval_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>

#include "app/cli/commands.h"
#include "app/cli/console_output.h"
#include "app/cli/detail_options.h"
#include "app/cli/interrupt_signals.h"
#include "app/cli/media_reading.h"
#include "app/cli/option_checks.h"
#include "app/cli/session.h"
#include "app/evaluation/dataset.h"
#include "app/evaluation/evaluation_run.h"
#include "app/evaluation/progress_text.h"
#include "app/evaluation/result_files.h"
#include "app/evaluation/score_table.h"
#include "app/resources/bundled_files.h"

namespace winnow::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kLogLineEveryS = 30.0;

// A terminal sees every change in one line, a log file one line now and then.
class ProgressLine {
 public:
  explicit ProgressLine(std::string title) : title_(std::move(title)), interactive_(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (interactive_) status_line("");
  }
  void show(int done, int asked, int planned) {
    const Clock::time_point now = Clock::now();
    const bool last = done == planned;
    if (!interactive_ && !last && now - said_ < std::chrono::duration<double>(kLogLineEveryS)) return;
    said_ = now;
    const double elapsed_s = std::chrono::duration<double>(now - start_).count();
    const std::string text = title_ + ": " + app::progressText(done, asked, planned, elapsed_s);
    if (interactive_) {
      status_line(text);
    } else {
      print_err("%s\n", text.c_str());
    }
  }

 private:
  const std::string title_;
  const bool interactive_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point said_ = start_;
};

std::string bundled_set() { return (app::resourceFolder() + QStringLiteral("/demo/evaluation/samples.jsonl")).toStdString(); }

// What a script does since 0.9: an older command line is told which.
struct MovedOption {
  const char* name;
  const char* command;  // of resources/evaluation
};
constexpr MovedOption kMovedOptions[] = {
    {"--needle", "make_set.py needle SET.jsonl"},
    {"--needle-frames", "make_set.py needle SET.jsonl --frames"},
    {"--needle-depths", "make_set.py needle SET.jsonl --depths"},
    {"--needle-trials", "make_set.py needle SET.jsonl --trials"},
    {"--documents", "make_set.py documents SET.jsonl"},
    {"--held-text", "make_set.py held-text SET.jsonl"},
    {"--document-words", "make_set.py documents SET.jsonl --words"},
    {"--document-count", "make_set.py documents SET.jsonl --count"},
    {"--document-seed", "make_set.py documents SET.jsonl --seed"},
    {"--text", "make_set.py documents SET.jsonl --text"},
    {"--encoding", "make_set.py documents SET.jsonl --encoding"},
    {"--format", "make_set.py milebench|docvqa|textvqa|chartqa|ai2d FILE SET.jsonl"},
    {"--images", "make_set.py milebench|docvqa|textvqa|chartqa|ai2d FILE SET.jsonl --images"},
    {"--paper", "report.py RESULTS/SET --paper"},
};

void refuse_moved_options(CLI::App& command) {
  for (const MovedOption& moved : kMovedOptions) {
    const auto refuse = [moved](const CLI::results_t&) -> bool {
      throw CLI::ValidationError(moved.name,
                                 "is now: python3 resources/evaluation/" + std::string(moved.command) +
                                     (std::string_view(moved.command).starts_with("make_set") ? "; then eval --data SET.jsonl" : ""));
    };
    command.add_option(moved.name, CLI::callback_t(refuse))->expected(0, 1 << 20)->group("");
  }
}

bool has_clusters(const app::Dataset& set) {
  return std::ranges::any_of(set.items, [](const app::EvaluationItem& item) { return !item.cluster.empty(); });
}

// One set and the recipes it is asked under.
struct Job {
  app::Dataset set;
  app::EvaluationPlan plan;
};

std::vector<app::GridRecipe> recipes_of(const EvalOptions& options) {
  std::vector<app::NamedRecipe> saved;
  for (const std::string& file : options.recipes) saved.push_back(app::readRecipeFile(file));
  return app::recipeGrid(options.methods, options.retentions, saved);
}

std::vector<Job> jobs_of(const EvalOptions& options) {
  const std::vector<app::GridRecipe> recipes = recipes_of(options);
  std::vector<app::JudgedBy> judged_by;
  for (const std::string& whose : options.judged_by)
    judged_by.push_back(whose == "own" ? app::JudgedBy::kItsOwn : app::JudgedBy::kTheFirst);
  app::DatasetOptions reading;
  reading.frames = options.frames;
  reading.detail = options.detail;
  reading.kindOf = [](const std::string& path) { return media_reader().detectKind(path); };
  std::vector<std::string> files = options.data;
  if (options.demo) files.push_back(bundled_set());
  std::vector<Job> jobs;
  std::set<std::string> names;
  for (const std::string& file : files) {
    Job job{app::readDataset(file, reading), {recipes, options.seeds}};
    if (!names.insert(job.set.name).second) {
      throw Exception(ErrorCode::kInvalidArgument, job.set.name, "names two sets; rename one of them");
    }
    if (has_clusters(job.set)) job.plan.recipes = app::documentGrid(recipes, judged_by);
    if (options.limit > 0 && job.set.items.size() > static_cast<std::size_t>(options.limit)) {
      // The log's subject is made from the items: a shortened set is another one.
      job.set.items.resize(static_cast<std::size_t>(options.limit));
      job.set.fingerprint += ":" + std::to_string(options.limit);
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// What the evaluation reads, so that nothing of it is written over.
std::vector<std::string> inputs_of(const EvalOptions& options) {
  std::vector<std::string> inputs = options.data;
  inputs.insert(inputs.end(), options.recipes.begin(), options.recipes.end());
  if (options.demo) inputs.push_back(bundled_set());
  return inputs;
}

// Of the settings that a log belongs to; a choice that was not made is not told, so that older logs go on.
std::string thinking_words(const Sampling& sampling) {
  if (sampling.thought_tokens == Sampling::kAsManyThoughtsAsTheModel) return {};
  return ", at most " + std::to_string(sampling.thought_tokens) + " thought";
}

}  // namespace

void add_eval_options(CLI::App& command, EvalOptions& options) {
  auto* data = command.add_option("--data", options.data, "questions as JSON lines: media, question, answers, metric");
  command.add_flag("--demo", options.demo, "the bundled questions about the sample videos")->excludes(data);
  command
      .add_option("--judged-by", options.judged_by,
                  "for questions about one document and methods that compress after a question: ask each question separately, or as one "
                  "conversation")
      ->delimiter(',')
      ->check(CLI::IsMember({"own", "first"}))
      ->capture_default_str();
  command.add_option("--methods", options.methods, "compression methods")->delimiter(',')->capture_default_str();
  command.add_option("--recipe", options.recipes, "also a recipe saved by the window, at the same shares; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command.add_option("--retentions", options.retentions, "shares of the cache to keep")->delimiter(',')->capture_default_str();
  command.add_option("--seeds", options.seeds, "seed for methods that draw random numbers")->delimiter(',')->capture_default_str();
  command.add_option("--frames", options.frames, "frames of videos whose line does not say")
      ->check(whole_number(1, kMostFrames))
      ->capture_default_str();
  add_detail_options(command, options.detail);
  command.add_option("--limit", options.limit, "only the first N questions of each set")->check(whole_number(1, 1 << 30));
  command.add_option("--max-tokens", options.sampling.max_new_tokens, "longest answer in tokens, thinking included")
      ->check(whole_number(1, kMostTokens))
      ->capture_default_str();
  add_think_option(command, options.sampling);
  command.add_flag("--agreement", options.agreement,
                   "also check every token of every answer against the full cache (top choice and KL; slower)");
  command.add_option("--out", options.out, "folder of the logs; an interrupted run continues from there")
      ->check(file_name_problem)
      ->capture_default_str();
  refuse_moved_options(command);
}

ExitStatus run_eval(const EvalOptions& options) {
  const std::vector<Job> jobs = jobs_of(options);
  std::error_code failed;
  fs::create_directories(options.out, failed);
  if (failed) throw Exception(ErrorCode::kFileUnreadable, options.out, failed.message());
  for (const Job& job : jobs) app::ResultFiles(options.out, job.set.name).requireReplaceable(inputs_of(options));

  Session session;
  const LoadModel load = load_request(options.model);
  const ModelInfo model = session.load(load, ProgressOutput::kTerminalOnly);
  require_own_cache(model, "eval measures methods, which need a model on this computer");
  require_thoughts(options.sampling, model);
  app::EngineAnswerer answerer(session.engine(), options.sampling.max_new_tokens, options.sampling.thought_tokens,
                               options.agreement ? ColumnScores::kAll : ColumnScores::kNone);
  const std::string settings = "model " + session.fingerprint() + ", " + model.device + ", " + model.dtype + ", at most " +
                               std::to_string(options.sampling.max_new_tokens) + " tokens" + thinking_words(options.sampling) +
                               (options.agreement ? ", agreement" : "");
  InterruptSource interrupt;
  const InterruptOnSignal on_signal(interrupt);
  const std::string described =
      (options.model.folder.empty() ? std::string("demo model") : model.name) + ", " + model.device + ", " + model.dtype;
  for (const Job& job : jobs) {
    const app::ResultFiles files(options.out, job.set.name);
    const app::ReportSubject subject{job.set.name, described};
    app::ItemLog log(files.log(), "questions " + job.set.fingerprint + ", " + settings);
    files.writeRun(subject, job.set.items, job.plan);
    app::EvaluationOutcome outcome;
    {
      ProgressLine progress(job.set.name);
      outcome = app::runEvaluation(
          job.set.items, job.plan, answerer, log, [&](int done, int asked, int planned) { progress.show(done, asked, planned); },
          interrupt.token());
    }
    print_out("%s\n", app::scoreTable(subject, job.set.items, job.plan, log).c_str());
    print_err("wrote %s and %s; intervals and tables: python3 resources/evaluation/report.py %s\n", files.log().c_str(),
              files.run().c_str(), files.base().c_str());
    if (outcome == app::EvaluationOutcome::kInterrupted) return ExitStatus::kInterrupted;
  }
  return ExitStatus::kAnswered;
}

RunCommand add_eval(CLI::App& command) {
  const auto options = std::make_shared<EvalOptions>();
  add_model_options(command, options->model);
  add_eval_options(command, *options);
  return [options] {
    if (options->data.empty() && !options->demo) throw CLI::RequiredError("--data or --demo");
    return run_eval(*options);
  };
}

}  // namespace winnow::cli
