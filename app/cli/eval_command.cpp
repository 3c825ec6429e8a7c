#include "app/cli/eval_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>

#include "app/cli/console_output.h"
#include "app/cli/encoding_option.h"
#include "app/cli/option_checks.h"
#include "app/cli/session.h"
#include "app/evaluation/dataset.h"
#include "app/evaluation/evaluation_run.h"
#include "app/evaluation/fact_document.h"
#include "app/evaluation/held_text.h"
#include "app/evaluation/importers.h"
#include "app/evaluation/needle_map.h"
#include "app/evaluation/needle_video.h"
#include "app/evaluation/paper_values.h"
#include "app/evaluation/progress_text.h"
#include "app/evaluation/report.h"
#include "app/evaluation/result_files.h"
#include "app/media/document_source.h"
#include "app/media/media_opener.h"
#include "app/resources/bundled_files.h"

namespace winnow::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kLogLineEveryS = 30.0;

// A terminal sees every change in one line, a log file one line now and then.
class ProgressLine {
 public:
  explicit ProgressLine(std::string title) : m_title(std::move(title)), m_interactive(isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (m_interactive) status_line("");
  }
  void show(int done, int asked, int planned) {
    const Clock::time_point now = Clock::now();
    const bool last = done == planned;
    if (!m_interactive && !last && now - m_said < std::chrono::duration<double>(kLogLineEveryS)) return;
    m_said = now;
    const double elapsed_s = std::chrono::duration<double>(now - m_start).count();
    const std::string text = m_title + ": " + app::progressText(done, asked, planned, elapsed_s);
    if (m_interactive) {
      status_line(text);
    } else {
      print_err("%s\n", text.c_str());
    }
  }

 private:
  const std::string m_title;
  const bool m_interactive;
  const Clock::time_point m_start = Clock::now();
  Clock::time_point m_said = m_start;
};

std::string evaluation_file(const char* name) { return (app::resourceFolder() + QStringLiteral("/demo/evaluation/")).toStdString() + name; }

constexpr const char* kLicences = "/usr/share/common-licenses";  // in every Debian (package base-files)

// Of the licences only what is a file: the others are second names of them.
std::vector<std::string> text_files(const EvalOptions& options) {
  if (!options.texts.empty()) return options.texts;
  std::vector<std::string> files;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(kLicences, failed)) {
    if (!entry.is_symlink() && entry.is_regular_file()) files.push_back(entry.path().string());
  }
  if (files.empty()) throw Exception(ErrorCode::kFileNotFound, kLicences, "no text was found; name your own files with --text");
  std::sort(files.begin(), files.end());
  return files;
}

app::RunningText running_text(const EvalOptions& options) {
  std::vector<std::string> texts;
  for (const std::string& file : text_files(options)) texts.push_back(app::DocumentSource(app::MediaFile(file), options.encoding).text());
  return app::RunningText(texts);
}

std::vector<app::JudgedBy> judged_by(const EvalOptions& options) {
  std::vector<app::JudgedBy> questions;
  for (const std::string& whose : options.judged_by)
    questions.push_back(whose == "own" ? app::JudgedBy::kItsOwn : app::JudgedBy::kTheFirst);
  return questions;
}

// One set and the recipes it is asked under.
struct Job {
  app::Dataset set;
  app::EvaluationPlan plan;
  bool is_needle = false;
};

std::vector<Job> jobs_of(const EvalOptions& options) {
  std::vector<app::NamedRecipe> saved;
  for (const std::string& file : options.recipes) saved.push_back(app::readRecipeFile(file));
  const auto plan = [&](const std::vector<double>& retentions) {
    return app::EvaluationPlan{app::recipeGrid(options.methods, options.retentions.empty() ? retentions : options.retentions, saved),
                               options.seeds};
  };
  const app::FfmpegMediaOpener opener;
  app::DatasetOptions reading;
  reading.frames = options.frames;
  reading.kindOf = [&](const std::string& path) { return opener.detectKind(path); };
  const app::EvaluationPlan usual = plan({0.5, 0.2, 0.1, 0.05, 0.01});
  std::vector<Job> jobs;
  for (const std::string& file : options.data) {
    jobs.push_back({app::importDataset(file, *app::datasetFormat(options.format), options.images, reading), usual, false});
  }
  if (options.demo) jobs.push_back({app::readDataset(evaluation_file("samples.jsonl"), reading), usual, false});
  if (options.needle) {
    std::vector<app::EvaluationItem> items = app::needleItems(options.needle_frames, options.needle_depths, options.needle_trials);
    jobs.push_back({app::finishedDataset("needle", std::move(items)), plan({0.1, 0.05, 0.02, 0.01}), true});
  }
  if (options.documents) {
    const app::RunningText text = running_text(options);
    app::Dataset set =
        app::finishedDataset("documents", app::factItems(text, options.document_words, options.document_count, options.document_seed));
    set.fingerprint += ":" + text.fingerprint();
    app::EvaluationPlan asked = plan({0.5, 0.2, 0.1, 0.05});
    asked.recipes = app::documentGrid(asked.recipes, judged_by(options));
    jobs.push_back({std::move(set), std::move(asked), false});
  }
  if (options.held_text) {
    const app::RunningText text = running_text(options);
    app::Dataset set =
        app::finishedDataset("held-text", app::heldItems(text, options.document_words, options.document_count, options.document_seed));
    set.fingerprint += ":" + text.fingerprint();
    jobs.push_back({std::move(set), plan({0.5, 0.2, 0.1, 0.05}), false});
  }
  std::set<std::string> names;
  for (Job& job : jobs) {
    if (!names.insert(job.set.name).second) {
      throw Exception(ErrorCode::kInvalidArgument, job.set.name, "names two sets; rename one of them");
    }
    if (options.limit > 0 && job.set.items.size() > static_cast<std::size_t>(options.limit)) {
      // The log's subject is made from the items: a shortened set is another one.
      job.set.items.resize(static_cast<std::size_t>(options.limit));
      job.set.fingerprint += ":" + std::to_string(options.limit);
    }
  }
  return jobs;
}

struct PaperColumn {
  std::string paper;
  std::string benchmark;
};

// "meda:T-1", or a name alone where the format says which benchmark it is. Refused before anything is asked.
std::optional<PaperColumn> paper_column(const EvalOptions& options) {
  if (options.paper.empty()) return std::nullopt;
  const std::size_t colon = options.paper.find(':');
  PaperColumn column{options.paper.substr(0, colon), colon == std::string::npos ? std::string() : options.paper.substr(colon + 1)};
  if (column.benchmark.empty()) {
    if (options.format == "docvqa") column.benchmark = "DocVQA";
    if (options.format == "textvqa") column.benchmark = "TextVQA";
    if (options.format == "chartqa") column.benchmark = "ChartQA";
    if (options.format == "ai2d") column.benchmark = "AI2D";
  }
  app::paperComparison(column.paper, column.benchmark, {});
  return column;
}

// The program's own media, and what is made for the needle test and for documents where they are asked for.
std::unique_ptr<MediaOpener> opener_of(const EvalOptions& options) {
  std::unique_ptr<MediaOpener> files = std::make_unique<app::FfmpegMediaOpener>();
  if (options.documents || options.held_text) {
    const auto text = std::make_shared<const app::RunningText>(running_text(options));
    files = std::make_unique<app::TextDocumentOpener>(
        std::move(files), app::kFactsKind, [text](const app::TextDocumentSpec& spec) { return app::factDocument(*text, spec).text; });
    files = std::make_unique<app::TextDocumentOpener>(
        std::move(files), app::kHeldKind, [text](const app::TextDocumentSpec& spec) { return app::heldText(*text, spec).text; });
  }
  if (!options.needle) return files;
  const std::unique_ptr<FrameSource> sheet = files->open(image_request(evaluation_file("letters.png")), {});
  app::LetterSheet letters(sheet->read(0, 1, {}).front().image);
  return std::make_unique<app::NeedleOpener>(std::move(files), std::move(letters));
}

// What the evaluation reads, so that nothing of it is written over.
std::vector<std::string> inputs_of(const EvalOptions& options) {
  std::vector<std::string> inputs = options.data;
  inputs.insert(inputs.end(), options.recipes.begin(), options.recipes.end());
  inputs.insert(inputs.end(), options.texts.begin(), options.texts.end());
  if (options.demo) inputs.push_back(evaluation_file("samples.jsonl"));
  return inputs;
}

app::ResultFiles files_of(const Job& job, const EvalOptions& options) {
  return app::ResultFiles(options.out, job.set.name, job.is_needle ? app::ResultKind::kNeedle : app::ResultKind::kQuestions);
}

}  // namespace

namespace {

// Of the settings that a log belongs to; a choice that was not made is not told, so that older logs go on.
std::string thinking_words(const Sampling& sampling) {
  if (sampling.thought_tokens == Sampling::kAsManyThoughtsAsTheModel) return {};
  return ", at most " + std::to_string(sampling.thought_tokens) + " thought";
}

}  // namespace

void add_eval_options(CLI::App& command, EvalOptions& options) {
  auto* data = command.add_option("--data", options.data, "questions as JSON lines: media, question, answers, metric");
  command.add_option("--format", options.format, "of --data: winnow or a benchmark's own files")
      ->check(CLI::IsMember(app::datasetFormatNames()))
      ->capture_default_str();
  command.add_option("--images", options.images, "folder of a benchmark's images, if not the usual one");
  command.add_option("--paper", options.paper, "also print a paper's values: aircache, vl-cache, or meda:COLUMN (T-1 .. IR of MileBench)");
  command.add_flag("--demo", options.demo, "the bundled questions about the sample videos")->excludes(data);
  command.add_flag("--needle", options.needle, "a letter card hidden at several depths of generated videos");
  command.add_option("--needle-frames", options.needle_frames, "lengths of these videos")
      ->delimiter(',')
      ->check(whole_number(4, kMostFrames))
      ->capture_default_str();
  command.add_option("--needle-depths", options.needle_depths, "depths, evenly from 0 to 100 %")
      ->check(whole_number(1, 101))
      ->capture_default_str();
  command.add_option("--needle-trials", options.needle_trials, "videos per length and depth")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command.add_flag("--documents", options.documents, "six facts hidden in running text, with a question about each (for text models)");
  command.add_flag("--held-text", options.held_text, "perplexity of the continuation of running text after each cache (for text models)");
  command.add_option("--document-words", options.document_words, "lengths of these documents")
      ->delimiter(',')
      ->check(whole_number(app::kFewestDocumentWords, app::kMostDocumentWords))
      ->capture_default_str();
  command.add_option("--document-count", options.document_count, "documents per length")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command.add_option("--document-seed", options.document_seed, "seed of the facts and their places")
      ->check(whole_number(0, 1 << 30))
      ->capture_default_str();
  command.add_option("--text", options.texts, "files of running text for --documents and --held-text; default: Debian's licence texts");
  add_encoding_option(command, options.encoding);
  command
      .add_option("--judged-by", options.judged_by,
                  "for --documents and methods that compress after a question: ask each question separately, or as one conversation")
      ->delimiter(',')
      ->check(CLI::IsMember({"own", "first"}))
      ->capture_default_str();
  command.add_option("--methods", options.methods, "compression methods")->delimiter(',')->capture_default_str();
  command.add_option("--recipe", options.recipes, "also a recipe saved by the window, at the same shares; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command
      .add_option("--retentions", options.retentions,
                  "shares of the cache to keep (default 0.5,0.2,0.1,0.05,0.01; without 0.01 for --documents and --held-text; --needle "
                  "0.1,0.05,0.02,0.01)")
      ->delimiter(',');
  command.add_option("--seeds", options.seeds, "seed for methods that draw random numbers")->delimiter(',')->capture_default_str();
  command.add_option("--frames", options.frames, "frames of videos whose line does not say")
      ->check(whole_number(1, kMostFrames))
      ->capture_default_str();
  command.add_option("--limit", options.limit, "only the first N questions of each set")->check(whole_number(1, 1 << 30));
  command.add_option("--max-tokens", options.sampling.max_new_tokens, "longest answer in tokens, thinking included")
      ->check(whole_number(1, kMostTokens))
      ->capture_default_str();
  add_think_option(command, options.sampling);
  command.add_flag("--agreement", options.agreement,
                   "also check every token of every answer against the full cache (top choice and KL; slower)");
  command.add_option("--out", options.out, "folder of logs and tables; an interrupted run continues from there")
      ->check(file_name_problem)
      ->capture_default_str();
}

ExitStatus run_eval(const EvalOptions& options) {
  const std::optional<PaperColumn> paper = paper_column(options);
  const std::vector<Job> jobs = jobs_of(options);
  std::error_code failed;
  fs::create_directories(options.out, failed);
  if (failed) throw Exception(ErrorCode::kFileUnreadable, options.out, failed.message());
  for (const Job& job : jobs) files_of(job, options).requireReplaceable(inputs_of(options));

  Session session(opener_of(options));
  const LoadModel load = load_request(options.model);
  const ModelInfo model = session.load(load, ProgressOutput::kTerminalOnly);
  require_thoughts(options.sampling, model);
  app::EngineAnswerer answerer(session.engine(), options.sampling.max_new_tokens, options.sampling.thought_tokens,
                               options.agreement ? ColumnScores::kAll : ColumnScores::kNone);
  const std::string settings = "model " + session.fingerprint() + ", " + model.device + ", " + model.dtype + ", at most " +
                               std::to_string(options.sampling.max_new_tokens) + " tokens" + thinking_words(options.sampling) +
                               (options.agreement ? ", agreement" : "");
  InterruptSource interrupt;
  const InterruptOnSignal on_signal(interrupt);
  for (const Job& job : jobs) {
    const app::ResultFiles files = files_of(job, options);
    app::ItemLog log(files.log(), "questions " + job.set.fingerprint + ", " + settings);
    app::EvaluationOutcome outcome;
    {
      ProgressLine progress(job.set.name);
      outcome = app::runEvaluation(
          job.set.items, job.plan, answerer, log, [&](int done, int asked, int planned) { progress.show(done, asked, planned); },
          interrupt.token());
    }
    const std::string described =
        (options.model.folder.empty() ? std::string("demo model") : model.name) + ", " + model.device + ", " + model.dtype;
    const app::Report report = app::buildReport({job.set.name, described}, job.set.items, job.plan, log);
    files.write(app::ResultTable::kJson, app::reportJson(report));
    std::string tables = app::reportMarkdown(report);
    if (paper && !job.is_needle) tables += "\n" + app::paperComparison(paper->paper, paper->benchmark, report);
    files.write(app::ResultTable::kMarkdown, tables);
    files.write(app::ResultTable::kCsv, app::reportCsv(report));
    if (job.is_needle) {
      const std::vector<app::NeedleMap> maps = app::needleMaps(job.set.items, job.plan, log);
      files.write(app::ResultTable::kMapCsv, app::needleCsv(maps));
      files.write(app::ResultTable::kMapSvg, app::needleSvg(maps, "One card in a video, " + described));
    }
    print_out("%s\n", tables.c_str());
    print_err("wrote %s.jsonl, .json, .md and .csv%s\n", files.base().c_str(), job.is_needle ? ", -map.svg and -map.csv" : "");
    if (outcome == app::EvaluationOutcome::kInterrupted) return ExitStatus::kInterrupted;
  }
  return ExitStatus::kAnswered;
}

}  // namespace winnow::cli
