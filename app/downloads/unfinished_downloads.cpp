#include "app/downloads/unfinished_downloads.h"

#include <QDir>
#include <QFile>
#include <nlohmann/json.hpp>

#include "app/process/own_folder.h"
#include "engine/base/json_document.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr qsizetype kMostNameLength = 300;

std::string unfinishedFile(const QString& data) {
  return QFile::encodeName(QDir(data).filePath(QStringLiteral("downloads.json"))).toStdString();
}

}  // namespace

QStringList unfinishedDownloads(const QString& data) {
  QStringList names;
  try {
    for (const Json& name : load_json(unfinishedFile(data))) {
      const QString text = name.is_string() ? QString::fromStdString(name.get<std::string>()) : QString();
      if (!text.isEmpty() && text.size() <= kMostNameLength && names.size() < kMostUnfinished) names << text;
    }
  } catch (const Exception&) {
    return {};
  }
  return names;
}

void noteUnfinishedDownloads(const QString& data, const QStringList& names) {
  Json document = Json::array();
  for (const QString& name : names) document.push_back(name.toStdString());
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
