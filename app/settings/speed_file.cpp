#include "app/settings/speed_file.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <cmath>
#include <utility>

namespace winnow::app {
namespace {

constexpr qint64 kLargestFile = 1 << 20;
constexpr int kLongestClass = 40;  // 2^40 tokens

QJsonObject readAll(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > kLargestFile) return {};
  return QJsonDocument::fromJson(file.readAll()).object();
}

double positive(const QJsonValue& value) {
  const double number = value.toDouble();
  return std::isfinite(number) && number > 0.0 ? number : 0.0;
}

QString pathIn(const QString& folder) { return QDir(folder).filePath(QStringLiteral("speed.json")); }

}  // namespace

SpeedFile::SpeedFile(QString cacheFolder) : m_folder(std::move(cacheFolder)) {}

MachineSpeed SpeedFile::recall(const std::string& key) {
  const QJsonObject stored = readAll(pathIn(m_folder)).value(QString::fromStdString(key)).toObject();
  MachineSpeed speed;
  for (const QJsonValue& each : stored.value(QLatin1String("prefill_ms_per_token")).toArray()) {
    const QJsonArray pair = each.toArray();
    const int lengthClass = pair.at(0).toInt(-1);
    const double ms = positive(pair.at(1));
    if (lengthClass >= 0 && lengthClass <= kLongestClass && ms > 0.0) speed.prefill_ms_per_token[lengthClass] = ms;
  }
  speed.ms_per_frame = positive(stored.value(QLatin1String("ms_per_frame")));
  speed.ms_per_image_token = positive(stored.value(QLatin1String("ms_per_image_token")));
  speed.ms_per_generated_token = positive(stored.value(QLatin1String("ms_per_generated_token")));
  return speed;
}

void SpeedFile::keep(const std::string& key, const MachineSpeed& speed) {
  QJsonArray prefill;
  for (const auto& [lengthClass, ms] : speed.prefill_ms_per_token) prefill.append(QJsonArray{lengthClass, ms});
  QJsonObject all = readAll(pathIn(m_folder));
  all.insert(QString::fromStdString(key), QJsonObject{{QStringLiteral("prefill_ms_per_token"), prefill},
                                                      {QStringLiteral("ms_per_frame"), speed.ms_per_frame},
                                                      {QStringLiteral("ms_per_image_token"), speed.ms_per_image_token},
                                                      {QStringLiteral("ms_per_generated_token"), speed.ms_per_generated_token}});
  QDir().mkpath(m_folder);
  QSaveFile file(pathIn(m_folder));
  if (!file.open(QIODevice::WriteOnly)) return;
  file.write(QJsonDocument(all).toJson());
  file.commit();
}

}  // namespace winnow::app
