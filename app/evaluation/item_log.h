// The log of an evaluation: one JSON line per finished (item, recipe, seed), so that a killed run goes on where it was.
//
// The first line names what was asked: a log of other items, another model or other settings is refused, never mixed. Methods, retentions
// and seeds are not part of that: a later run may add some. Every record is written with one write and synced before add() returns; a last
// line that a crash tore is cut off when the log is opened. A file that does not begin as a log does is refused before a byte of it is
// changed. One process at a time, held by a lock on the file. Used by evaluation_run.h. Errors: Exception(kInvalidArgument) for a log of
// something else, a foreign file or one in use, kDamagedFile for a broken line before the last, kFileUnreadable for the file system's. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/metrics/selection_figures.h"

namespace winnow::app {

// One answer with what the tables need. Times are not here: they differ from run to run, and benchmarks measure them.
struct AnswerRecord {
  std::string item;
  std::string recipe;  // "vl-cache@0.1"
  std::uint64_t seed = 0;
  std::string answer;
  double score = 0.0;               // in [0, 1]
  double requestedRetention = 1.0;  // as shares
  double achievedRetention = 1.0;
  std::int64_t kvBytes = 0;  // after the compression event
  std::int64_t kvBytesFull = 0;
  double budgetDivergence = 0.0;  // Jensen-Shannon divergence of the layers' budgets from uniform ones, base 2
  std::int64_t generatedTokens = 0;
  std::vector<std::string> notices;  // of the media: "clip.mp4: parts of the video are damaged"
  // Against the full cache, teacher-forced: share of equal top choices, mean KL in nats. Absent where it was not measured.
  std::optional<double> topAgreement;
  std::optional<double> divergence;
  std::optional<double> loss;                 // metric perplexity: mean -ln of the probability of the gold's tokens
  std::optional<SelectionFigures> selection;  // output error: one number, the mean over layers
};

class ItemLog {
 public:
  // `subject`: what the log is about (dataset, model, settings) as text that must be equal to go on.
  ItemLog(const std::string& path, const std::string& subject);
  ~ItemLog();
  ItemLog(const ItemLog&) = delete;
  ItemLog& operator=(const ItemLog&) = delete;

  const AnswerRecord* find(const std::string& item, const std::string& recipe, std::uint64_t seed) const;
  void add(const AnswerRecord& record);

 private:
  using Key = std::tuple<std::string, std::string, std::uint64_t>;
  void openLocked();
  void readExisting(const std::string& subject);
  void append(const std::string& line);

  const std::string m_path;
  int m_descriptor = -1;
  std::map<Key, AnswerRecord> m_records;
};

}  // namespace winnow::app
