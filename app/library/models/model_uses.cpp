#include "app/library/models/model_uses.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <vector>

#include "app/ground/process/own_folder.h"
#include "engine/base/json_document.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostUses = 300;

QString usesFile(const QString& data) { return QDir(data).filePath(QStringLiteral("models-used.json")); }

}  // namespace

QHash<QString, QDateTime> modelUses(const QString& data) {
  QHash<QString, QDateTime> uses;
  try {
    const Json document = load_json(QFile::encodeName(usesFile(data)).toStdString());
    for (const auto& [path, when] : document.items()) {
      if (when.is_number_integer()) uses.insert(QString::fromStdString(path), QDateTime::fromMSecsSinceEpoch(when.get<qint64>()));
    }
  } catch (const Exception&) {
    return {};
  }
  return uses;
}

void noteModelUse(const QString& data, const QString& path, const QDateTime& when) {
  QHash<QString, QDateTime> uses = modelUses(data);
  uses.insert(QFileInfo(path).absoluteFilePath(), when);
  std::vector<std::pair<QDateTime, QString>> newest;
  for (auto use = uses.cbegin(); use != uses.cend(); ++use) newest.emplace_back(use.value(), use.key());
  std::ranges::sort(newest, std::greater<>());
  if (newest.size() > kMostUses) newest.resize(kMostUses);
  Json document = Json::object();
  for (const auto& [at, each] : newest) document[each.toStdString()] = at.toMSecsSinceEpoch();
  if (!makeOwnFolder(data)) return;
  try {
    ReplacedFile file(QFile::encodeName(usesFile(data)).toStdString());
    file.write(document.dump(1, ' ', false, Json::error_handler_t::replace));
    file.commit();
  } catch (const Exception&) {
    return;  // the list does without
  }
}

}  // namespace winnow::app
