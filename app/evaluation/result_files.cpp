#include "app/evaluation/result_files.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

// The last two are the needle test's.
constexpr std::array<ResultTable, 5> kTables = {ResultTable::kJson, ResultTable::kMarkdown, ResultTable::kCsv, ResultTable::kMapCsv,
                                                ResultTable::kMapSvg};

// Of a regular file, at most as many bytes as are asked for.
std::string firstBytes(const std::string& path, std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

}  // namespace

ResultFiles::ResultFiles(const std::string& folder, std::string name, ResultKind kind)
    : m_name(std::move(name)), m_kind(kind), m_base((std::filesystem::path(folder) / m_name).string()) {}

std::span<const ResultTable> ResultFiles::tables() const { return std::span(kTables).first(m_kind == ResultKind::kNeedle ? 5 : 3); }

std::string ResultFiles::pathOf(ResultTable table) const {
  switch (table) {
    case ResultTable::kJson:
      return m_base + ".json";
    case ResultTable::kMarkdown:
      return m_base + ".md";
    case ResultTable::kCsv:
      return m_base + ".csv";
    case ResultTable::kMapCsv:
      return m_base + "-map.csv";
    case ResultTable::kMapSvg:
      return m_base + "-map.svg";
  }
  return m_base;
}

std::string ResultFiles::beginningOf(ResultTable table) const {
  switch (table) {
    case ResultTable::kJson:
      return "{\n  \"dataset\": ";
    case ResultTable::kMarkdown:
      return "## " + m_name + "\n\n";
    case ResultTable::kCsv:
      return "dataset,recipe,method,";
    case ResultTable::kMapCsv:
      return "recipe,method,requested_retention,frames,depth_percent,";
    case ResultTable::kMapSvg:
      return "<svg ";
  }
  return {};
}

void ResultFiles::requireReplaceable(std::span<const std::string> inputs) const {
  const auto refuseInputs = [&](const std::string& path) {
    for (const std::string& input : inputs) {
      if (same_file(path, input)) throw Exception(ErrorCode::kInvalidArgument, path, "is read by this evaluation; choose another folder");
    }
  };
  refuseInputs(log());
  for (const ResultTable table : tables()) {
    const std::string path = pathOf(table);
    refuseInputs(path);
    require_replaceable(path);
    const std::string beginning = beginningOf(table);
    if (std::filesystem::exists(path) && firstBytes(path, beginning.size()) != beginning) {
      throw Exception(ErrorCode::kInvalidArgument, path, "is no table of an evaluation and is left as it is; choose another folder");
    }
  }
}

void ResultFiles::write(ResultTable table, const std::string& text) const {
  require(text.starts_with(beginningOf(table)), "a table begins as it is recognised by");
  ReplacedFile file(pathOf(table));
  file.write(text);
  file.commit();
}

}  // namespace winnow::app
