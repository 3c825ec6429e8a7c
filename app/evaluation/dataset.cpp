#include "app/evaluation/dataset.h"

#include <QCryptographicHash>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kMaxFrames = 1024;
constexpr std::size_t kMaxLineBytes = 4U << 20;

const std::set<std::string> kKeys = {"media", "question", "answers", "metric", "frames", "id", "group", "tolerance_s"};

std::vector<std::string> oneOrMany(const json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

class LineReader {
 public:
  LineReader(const std::string& path, int number, const DatasetOptions& options)
      : m_folder(fs::path(path).parent_path()), m_where(path + ":" + std::to_string(number)), m_number(number), m_options(options) {}

  EvaluationItem read(const std::string& text) const {
    if (text.size() > kMaxLineBytes) refuse("the line is longer than 4 MiB");
    try {
      return item(json::parse(text));
    } catch (const json::exception& problem) {
      refuse(problem.what());
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const { throw Exception(ErrorCode::kInvalidArgument, m_where, reason); }

  EvaluationItem item(const json& line) const {
    if (!line.is_object()) refuse("is not a JSON object");
    for (const auto& [key, value] : line.items()) {
      if (!kKeys.contains(key)) refuse("has the unknown key \"" + key + "\"");
    }
    EvaluationItem read;
    read.id = line.value("id", std::to_string(m_number));
    read.question = line.at("question").get<std::string>();
    read.golds = oneOrMany(line.at("answers"));
    read.group = line.value("group", "");
    read.toleranceS = line.value("tolerance_s", read.toleranceS);
    const auto metric = metricByName(line.at("metric").get<std::string>());
    if (!metric) refuse("names an unknown metric; known are " + knownMetrics());
    read.metric = *metric;
    const int frames = line.value("frames", m_options.frames);
    if (read.question.empty()) refuse("has an empty question");
    if (read.golds.empty()) refuse("has no answers");
    if (frames < 1 || frames > kMaxFrames) refuse("frames must lie in 1 to 1024");
    const std::vector<std::string> paths = oneOrMany(line.at("media"));
    if (paths.empty()) refuse("names no media");
    for (const std::string& path : paths) {
      try {
        read.media.push_back(mediaRequest((m_folder / path).string(), frames, m_options.kindOf));
      } catch (const Exception& problem) {
        refuse(std::string(problem.what()));
      }
    }
    return read;
  }

  static std::string knownMetrics() {
    std::string names;
    for (const std::string& name : metricNames()) names += (names.empty() ? "" : ", ") + name;
    return names;
  }

  const fs::path m_folder;
  const std::string m_where;
  const int m_number;
  const DatasetOptions& m_options;
};

// The bytes of a file name need not be UTF-8: hex keeps them apart.
std::string hexOf(const std::string& bytes) { return QByteArray::fromStdString(bytes).toHex().toStdString(); }

std::string fingerprintOf(const std::vector<EvaluationItem>& items, const fs::path& folder) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (const EvaluationItem& item : items) {
    json facts = {{"id", item.id},       {"question", item.question},     {"answers", item.golds}, {"metric", metricName(item.metric)},
                  {"group", item.group}, {"tolerance_s", item.toleranceS}};
    for (const MediaRequest& media : item.media) {
      // Relative, so that a set may move with its media; a file that was replaced has another size in all likelihood.
      std::error_code ignored;
      facts["media"].push_back(
          {hexOf(fs::path(media.path).lexically_relative(folder).string()), fs::file_size(media.path, ignored), media.plan.frame_count});
    }
    const std::string text = facts.dump(-1, ' ', true, json::error_handler_t::replace);
    hash.addData(QByteArray::fromStdString(text + "\n"));
  }
  return hash.result().toHex().toStdString();
}

}  // namespace

MediaRequest mediaRequest(const std::string& path, int frames, const KindOfMedia& kindOf) {
  MediaRequest request;
  request.path = path;
  request.kind = kindOf(path);
  request.plan.frame_count = frames;
  return request;
}

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

Dataset readDataset(const std::string& path, const DatasetOptions& options) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !fs::is_regular_file(path)) throw Exception(ErrorCode::kFileNotFound, path, "cannot be opened");
  std::vector<EvaluationItem> items;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    items.push_back(LineReader(path, number, options).read(text));
  }
  return finishedDataset(path, std::move(items));
}

}  // namespace winnow::app
