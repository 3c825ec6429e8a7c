#include "app/evaluation/dataset.h"

#include <QCryptographicHash>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"

namespace winnow::app {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kMaxFrames = 1024;
constexpr std::size_t kMaxText = LineReader::kLongestLine;
constexpr std::size_t kMaxEntries = 100'000;
constexpr double kMaxToleranceS = 1e9;

const std::set<std::string> kKeys = {"media", "question", "answers", "metric", "frames", "id", "group", "cluster", "tolerance_s"};

std::vector<std::string> oneOrMany(const JsonObject& line, const char* key) {
  if (line.value(key).is_string()) return {line.string(key, kMaxText)};
  return line.strings(key, kMaxText, kMaxEntries);
}

class ItemReader {
 public:
  ItemReader(const std::string& path, const DatasetOptions& options) : m_folder(fs::path(path).parent_path()), m_options(options) {}

  // text: of the line that `reader` gave last.
  EvaluationItem read(const std::string& text, const LineReader& reader) const {
    const std::string where = reader.where();
    try {
      return item(parse_json(text, where, {.max_bytes = kMaxText}), where);
    } catch (const Exception& problem) {
      // Whatever it is, it is this line's.
      const std::string told = problem.what();
      throw Exception(ErrorCode::kInvalidArgument, where, told.starts_with(where + ": ") ? told.substr(where.size() + 2) : told);
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& reason) { throw Exception(ErrorCode::kInvalidArgument, "", reason); }

  EvaluationItem item(const Json& value, const std::string& where) const {
    const JsonObject line(value, where);
    for (const auto& [key, field] : value.items()) {
      if (!kKeys.contains(key)) refuse("has the unknown key \"" + key.substr(0, 64) + "\"");
    }
    EvaluationItem read;
    read.id = line.string("id", kMaxText, where.substr(where.rfind(':') + 1));
    read.question = line.string("question", kMaxText);
    read.golds = oneOrMany(line, "answers");
    read.group = line.string("group", kMaxText, "");
    read.cluster = line.string("cluster", kMaxText, "");
    read.toleranceS = line.real("tolerance_s", 0.0, kMaxToleranceS, read.toleranceS);
    const auto metric = metricByName(line.string("metric", kMaxText));
    if (!metric) refuse("names an unknown metric; known are " + knownMetrics());
    read.metric = *metric;
    const auto frames = static_cast<int>(line.integer("frames", 1, kMaxFrames, m_options.frames));
    if (read.question.empty()) refuse("has an empty question");
    if (read.golds.empty()) refuse("has no answers");
    const std::vector<std::string> paths = oneOrMany(line, "media");
    if (paths.empty()) refuse("names no media");
    for (const std::string& path : paths) {
      MediaRequest& media = read.media.emplace_back();
      media.path = (m_folder / path).string();
      media.kind = m_options.kindOf(media.path);
      media.plan.frame_count = frames;
      media.detail = media.kind == MediaKind::kVideo ? m_options.detail.frames : m_options.detail.pictures;
    }
    return read;
  }

  static std::string knownMetrics() {
    std::string names;
    for (const std::string& name : metricNames()) names += (names.empty() ? "" : ", ") + name;
    return names;
  }

  const fs::path m_folder;
  const DatasetOptions& m_options;
};

// The bytes of a file name need not be UTF-8: hex keeps them apart.
std::string hexOf(const std::string& bytes) { return QByteArray::fromStdString(bytes).toHex().toStdString(); }

std::string fingerprintOf(const std::vector<EvaluationItem>& items, const fs::path& folder) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (const EvaluationItem& item : items) {
    json facts = {{"id", item.id},       {"question", item.question},     {"answers", item.golds}, {"metric", metricName(item.metric)},
                  {"group", item.group}, {"tolerance_s", item.toleranceS}};
    if (!item.cluster.empty()) facts["cluster"] = item.cluster;  // what was not said is not told, so that older logs go on
    for (const MediaRequest& media : item.media) {
      // Relative, so that a set may move with its media; a file that was replaced has another size in all likelihood.
      std::error_code ignored;
      facts["media"].push_back(
          {hexOf(fs::path(media.path).lexically_relative(folder).string()), fs::file_size(media.path, ignored), media.plan.frame_count});
      if (media.detail != MediaDetail()) facts["media"].push_back(detail_word(media.detail));
    }
    const std::string text = facts.dump(-1, ' ', true, json::error_handler_t::replace);
    hash.addData(QByteArray::fromStdString(text + "\n"));
  }
  return hash.result().toHex().toStdString();
}

// Sets the fingerprint from the items; refuses an empty set and ids that occur twice.
Dataset finishedDataset(const std::string& path, std::vector<EvaluationItem> items) {
  if (items.empty()) throw Exception(ErrorCode::kInvalidArgument, path, "holds no question");
  std::set<std::string> ids;
  for (const EvaluationItem& item : items) {
    if (!ids.insert(item.id).second) throw Exception(ErrorCode::kInvalidArgument, path, "has the id \"" + item.id + "\" twice");
  }
  Dataset set;
  set.name = fs::path(path).stem().string();
  set.fingerprint = fingerprintOf(items, fs::path(path).parent_path());
  set.items = std::move(items);
  return set;
}

}  // namespace

Dataset readDataset(const std::string& path, const DatasetOptions& options) {
  LineReader lines(path);
  const ItemReader reader(path, options);
  std::vector<EvaluationItem> items;
  for (std::string text; lines.next(text);) {
    if (text.find_first_not_of(" \t\r") != std::string::npos) items.push_back(reader.read(text, lines));
  }
  return finishedDataset(path, std::move(items));
}

}  // namespace winnow::app
