#include "app/chats/settings/speed_file.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kLargestFile = 1 << 20;
constexpr int kLongestClass = 40;  // 2^40 tokens

QJsonObject readAll(const QString& path) {
  try {
    const std::string text = read_file_bytes(QFile::encodeName(path).toStdString(), kLargestFile);
    return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
  } catch (const Exception&) {
    return {};  // missing, unreadable, a FIFO
  }
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
  speed.encoder_share = std::min(1.0, positive(stored.value(QLatin1String("encoder_share"))));
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
                                                      {QStringLiteral("encoder_share"), speed.encoder_share},
                                                      {QStringLiteral("ms_per_generated_token"), speed.ms_per_generated_token}});
  QDir().mkpath(m_folder);
  try {
    ReplacedFile file(QFile::encodeName(pathIn(m_folder)).toStdString());
    file.write(QJsonDocument(all).toJson().toStdString());
    file.commit();
  } catch (const Exception&) {
    // Nobody's question fails for it.
  }
}

}  // namespace winnow::app
