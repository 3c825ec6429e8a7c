#include "app/cli/eval_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/cli/session.h"
#include "app/evaluation/dataset.h"
#include "app/evaluation/evaluation_run.h"
#include "app/evaluation/model_fingerprint.h"
#include "app/evaluation/progress_text.h"
#include "app/evaluation/report.h"
#include "app/media/media_opener.h"
#include "app/model_library/model_library.h"

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
    if (m_interactive) std::fprintf(stderr, "\r\033[K");
  }
  void show(int done, int asked, int planned) {
    const Clock::time_point now = Clock::now();
    const bool last = done == planned;
    if (!m_interactive && !last && now - m_said < std::chrono::duration<double>(kLogLineEveryS)) return;
    m_said = now;
    const double elapsed_s = std::chrono::duration<double>(now - m_start).count();
    const std::string text = m_title + ": " + app::progressText(done, asked, planned, elapsed_s);
    std::fprintf(stderr, m_interactive ? "\r\033[K%s" : "%s\n", text.c_str());
    std::fflush(stderr);
  }

 private:
  const std::string m_title;
  const bool m_interactive;
  const Clock::time_point m_start = Clock::now();
  Clock::time_point m_said = m_start;
};

std::vector<app::Dataset> read_sets(const EvalOptions& options) {
  const app::FfmpegMediaOpener opener;
  app::DatasetOptions reading;
  reading.frames = options.frames;
  reading.kindOf = [&](const std::string& path) { return opener.detectKind(path); };
  std::vector<std::string> files = options.data;
  if (options.demo) files.push_back((app::resourceFolder() + QStringLiteral("/demo/evaluation/samples.jsonl")).toStdString());
  std::vector<app::Dataset> sets;
  std::set<std::string> names;
  for (const std::string& file : files) {
    app::Dataset set = app::readDataset(file, reading);
    if (!names.insert(set.name).second) throw Exception(ErrorCode::kInvalidArgument, file, "another set has the same name, and its results would be mixed");
    if (options.limit > 0 && set.items.size() > static_cast<std::size_t>(options.limit)) {
      // The log's subject is made from the items: a shortened set is another one.
      set.items.resize(static_cast<std::size_t>(options.limit));
      set.fingerprint += ":" + std::to_string(options.limit);
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

void write_text(const fs::path& path, const std::string& text) {
  const fs::path part = path.string() + ".part";
  std::ofstream stream(part, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw Exception(ErrorCode::kFileUnreadable, path.string(), "cannot be written");
  fs::rename(part, path);
}

}  // namespace

void add_eval_options(CLI::App& command, EvalOptions& options) {
  auto* data = command.add_option("--data", options.data, "questions as JSON lines: media, question, answers, metric");
  command.add_flag("--demo", options.demo, "the bundled questions about the sample videos")->excludes(data);
  command.add_option("--methods", options.methods, "compression methods")->delimiter(',')->capture_default_str();
  command.add_option("--retentions", options.retentions, "shares of the cache that are kept")->delimiter(',')->capture_default_str();
  command.add_option("--seeds", options.seeds, "for methods that draw lots")->delimiter(',')->capture_default_str();
  command.add_option("--frames", options.frames, "frames of videos whose line says nothing")->check(CLI::Range(1, 1024))->capture_default_str();
  command.add_option("--limit", options.limit, "only the first N questions of each set")->check(CLI::PositiveNumber);
  command.add_option("--max-tokens", options.max_new_tokens, "longest answer in tokens")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  command.add_flag("--agreement", options.agreement, "also check every token of every answer against the full cache (top choice and KL; slower)");
  command.add_option("--out", options.out, "folder of logs and tables; a run that was cut off goes on from there")->capture_default_str();
}

ExitStatus run_eval(const EvalOptions& options) {
  const std::vector<app::Dataset> sets = read_sets(options);
  const app::EvaluationPlan plan{app::recipeGrid(options.methods, options.retentions), options.seeds};
  std::error_code failed;
  fs::create_directories(options.out, failed);
  if (failed) throw Exception(ErrorCode::kFileUnreadable, options.out, failed.message());

  Session session;
  const LoadModel load = load_request(options.model);
  const ModelInfo model = session.load(load, ProgressOutput::kTerminalOnly);
  app::EngineAnswerer answerer(session.engine(), options.max_new_tokens, options.agreement ? ColumnScores::kAll : ColumnScores::kNone);
  const std::string settings = "model " + app::modelFingerprint(load.folder) + ", " + model.device + ", " + model.dtype + ", at most " +
                               std::to_string(options.max_new_tokens) + " tokens" + (options.agreement ? ", agreement" : "");
  InterruptSource interrupt;
  const InterruptOnSignal on_signal(interrupt);
  for (const app::Dataset& set : sets) {
    const fs::path base = fs::path(options.out) / set.name;
    app::ItemLog log(base.string() + ".jsonl", "questions " + set.fingerprint + ", " + settings);
    app::EvaluationOutcome outcome;
    {
      ProgressLine progress(set.name);
      outcome = app::runEvaluation(set.items, plan, answerer, log, [&](int done, int asked, int planned) { progress.show(done, asked, planned); },
                                   interrupt.token());
    }
    const app::Report report = app::buildReport({set.name, model.name + ", " + model.device + ", " + model.dtype}, set.items, plan, log);
    write_text(base.string() + ".json", app::reportJson(report));
    write_text(base.string() + ".md", app::reportMarkdown(report));
    write_text(base.string() + ".csv", app::reportCsv(report));
    std::printf("%s\n", app::reportMarkdown(report).c_str());
    std::fprintf(stderr, "wrote %s.jsonl, .json, .md and .csv\n", base.c_str());
    if (outcome == app::EvaluationOutcome::kInterrupted) return ExitStatus::kInterrupted;
  }
  return ExitStatus::kAnswered;
}

}  // namespace winnow::cli
