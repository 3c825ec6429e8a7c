// The terminal program's view of the engine's events.
//
// Answers stream to stdout, thoughts, progress and figures to stderr. Main thread only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/engine.h"

namespace winnow::cli {

enum class AnswerOutput : int { kStream = 1, kSilent = 2 };

// The progress shown when stderr is no terminal: a line per phase for a single question, nowhere for thousands.
enum class ProgressOutput : int { kPhases = 1, kTerminalOnly = 2 };

// Collects one request's events.
class ConsoleSink : public EventSink {
 public:
  explicit ConsoleSink(AnswerOutput output, ProgressOutput progress = ProgressOutput::kPhases);
  void on_event(Event event) override;

  std::optional<ModelInfo> model;
  std::optional<Finished> finished;
  std::optional<CacheReport> report;
  std::optional<Agreement> agreement;
  std::optional<SelectionFigures> selection;
  std::optional<Planned> planned;
  std::optional<Prepared> prepared;
  std::optional<Watched> watched;
  std::optional<Saved> saved;
  std::optional<Restored> restored;
  std::vector<MediaSampled> media;
  std::optional<Transcribed> transcribed;
  std::function<void(const std::vector<TimedLine>&)> on_lines;  // as they are heard; may be empty

 private:
  void show_heard(const LinesHeard& heard);
  void show_progress(const Progress& progress);
  void clear_line();
  void show_text(const TextDelta& delta);
  void end_thought();

  AnswerOutput output_;
  ProgressOutput progress_;
  bool interactive_;  // stderr is a terminal
  bool line_open_ = false;
  Phase last_phase_ = Phase::kLoadWeights;
  bool any_phase_ = false;
  bool thinking_ = false;  // a thought is on stderr, and its line is not ended
};

// For one request of many: nothing but progress, on a terminal.
inline ConsoleSink silent_sink() { return ConsoleSink(AnswerOutput::kSilent, ProgressOutput::kTerminalOnly); }

// For people: asked against done frames; tokens, cache, speed; a line for each note of the compression.
std::string figures_text(const ConsoleSink& sink);
// The first part of it.
std::string media_text(const std::vector<MediaSampled>& media);
// For people: how many choices are the full cache's, then a line for each word where they part.
std::string agreement_text(const Agreement& agreement);

// Why an answer has no word: an English clause. Empty: it has one, or was interrupted.
std::string empty_answer_text(const Finished& finished);

std::string bytes_text(std::int64_t bytes);

}  // namespace winnow::cli
