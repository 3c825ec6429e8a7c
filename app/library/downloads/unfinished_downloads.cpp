#include "app/library/downloads/unfinished_downloads.h"

#include <QDir>
#include <QFile>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/ground/process/own_folder.h"
#include "engine/base/json_document.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr qsizetype kMostNameLength = 300;
constexpr std::size_t kMostTextBytes = 4096;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

std::string unfinishedFile(const QString& data) {
  return QFile::encodeName(QDir(data).filePath(QStringLiteral("downloads.json"))).toStdString();
}

// Earlier versions wrote the name alone.
std::optional<QueuedDownload> readDownload(const Json& json) {
  QueuedDownload download;
  download.state = QueuedDownload::State::kPaused;
  if (json.is_string()) {
    download.key = QString::fromStdString(json.get<std::string>());
  } else if (json.is_object()) {
    const JsonObject row(json, "downloads.json");
    const auto text = [](const JsonObject& of, const char* key) { return QString::fromStdString(of.string(key, kMostTextBytes, {})); };
    download.key = text(row, "name");
    download.toCome = row.integer("bytes", 0, kMostBytes, 0);
    if (const std::optional<JsonObject> fault = row.optional_object("fault")) {
      download.state = QueuedDownload::State::kFailed;
      download.fault.problem = static_cast<DownloadProblem>(fault->integer("problem", 1, static_cast<int>(DownloadProblem::kChanged)));
      download.fault.subject = text(*fault, "subject");
      download.fault.reason = text(*fault, "reason");
      download.fault.status = static_cast<int>(fault->integer("status", 0, 999, 0));
      download.fault.bytes = fault->integer("bytes", 0, kMostBytes, 0);
    }
  }
  if (download.key.isEmpty() || download.key.size() > kMostNameLength) return std::nullopt;
  return download;
}

Json jsonOf(const QueuedDownload& download) {
  Json json = {{"name", download.key.toStdString()}};
  if (download.toCome > 0) json["bytes"] = download.toCome;
  if (download.state != QueuedDownload::State::kFailed) return json;
  const DownloadFault& fault = download.fault;
  json["fault"] = {
      {"problem", static_cast<int>(fault.problem)}, {"subject", fault.subject.toStdString()}, {"reason", fault.reason.toStdString()}};
  if (fault.status > 0) json["fault"]["status"] = fault.status;
  if (fault.bytes > 0) json["fault"]["bytes"] = fault.bytes;
  return json;
}

}  // namespace

std::vector<QueuedDownload> unfinishedDownloads(const QString& data) {
  std::vector<QueuedDownload> downloads;
  try {
    for (const Json& each : load_json(unfinishedFile(data))) {
      const std::optional<QueuedDownload> download = readDownload(each);
      if (download && downloads.size() < kMostUnfinished) downloads.push_back(*download);
    }
  } catch (const Exception&) {
    return {};
  }
  return downloads;
}

void noteUnfinishedDownloads(const QString& data, const std::vector<QueuedDownload>& downloads) {
  Json document = Json::array();
  for (const QueuedDownload& each : downloads) document.push_back(jsonOf(each));
  if (!makeOwnFolder(data)) return;
  try {
    ReplacedFile file(unfinishedFile(data));
    file.write(document.dump(1, ' ', false, Json::error_handler_t::replace));
    file.commit();
  } catch (const Exception&) {
    return;  // the next start does without
  }
}

}  // namespace winnow::app
