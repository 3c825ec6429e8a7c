// The files of one set's results: DIR/NAME.jsonl (the log), its tables .json, .md and .csv, and a map of the needle test.
//
// Used by the terminal's eval. A table replaces an earlier one of the same set and nothing else: what does not begin as ours do was written
// by somebody. Errors: Exception(kInvalidArgument) for such a file and for one that is also an input; kFileUnreadable for the file
// system's. One thread.
#pragma once

#include <span>
#include <string>

namespace winnow::app {

enum class ResultKind : int { kQuestions = 1, kNeedle = 2 };  // with a map
enum class ResultTable : int { kJson = 1, kMarkdown = 2, kCsv = 3, kMapCsv = 4, kMapSvg = 5 };

class ResultFiles {
 public:
  ResultFiles(const std::string& folder, std::string name, ResultKind kind);

  // Before anything is opened or asked. inputs: files that the evaluation reads.
  void requireReplaceable(std::span<const std::string> inputs) const;

  std::string base() const { return m_base; }  // DIR/NAME
  std::string log() const { return m_base + ".jsonl"; }
  void write(ResultTable table, const std::string& text) const;

 private:
  std::string pathOf(ResultTable table) const;
  std::string beginningOf(ResultTable table) const;

  std::span<const ResultTable> tables() const;

  std::string m_name;
  ResultKind m_kind;
  std::string m_base;
};

}  // namespace winnow::app
