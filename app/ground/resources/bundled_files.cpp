#include "app/ground/resources/bundled_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "engine/base/json_document.h"

namespace winnow::app {

namespace {

constexpr std::size_t kMaxSamples = 100;
constexpr std::size_t kMaxQuestions = 100;
constexpr std::size_t kMaxTextBytes = 4096;

QString existingFolder(const QString& folder) {
  return !folder.isEmpty() && QFileInfo(folder).isDir() ? QDir::cleanPath(folder) : QString();
}

// The file inside the folder, links resolved; empty when it is missing or outside.
QString fileInside(const QString& folder, const std::string& name) {
  const QString root = QFileInfo(folder).canonicalFilePath();
  const QFileInfo file(folder + QLatin1Char('/') + QString::fromStdString(name));
  const QString canonical = file.canonicalFilePath();
  if (root.isEmpty() || !file.isFile() || !canonical.startsWith(root + QLatin1Char('/'))) return {};
  return file.absoluteFilePath();
}

Sample readSample(const Json& json, const QString& folder) {
  const JsonObject entry(json, "samples.json");
  Sample sample;
  sample.file = fileInside(folder, entry.string("file", kMaxTextBytes));
  sample.title = QString::fromStdString(entry.string("title", kMaxTextBytes, ""));
  sample.kind = entry.string("kind", kMaxTextBytes, "video") == "image" ? MediaKind::kImage : MediaKind::kVideo;
  if (sample.title.isEmpty()) sample.title = QFileInfo(sample.file).completeBaseName();
  if (!entry.has("questions") || !entry.value("questions").is_array()) return sample;
  for (const Json& item : entry.value("questions")) {
    if (static_cast<std::size_t>(sample.questions.size()) == kMaxQuestions) break;
    const JsonObject question(item, "samples.json");
    sample.questions.push_back({QString::fromStdString(question.string("question", kMaxTextBytes)),
                                QString::fromStdString(question.string("answer", kMaxTextBytes, ""))});
  }
  return sample;
}

}  // namespace

QString resourceFolder() {
  const QString fromEnvironment = existingFolder(qEnvironmentVariable("WINNOW_RESOURCE_DIR"));
  if (!fromEnvironment.isEmpty()) return fromEnvironment;
  const QString installed = existingFolder(QCoreApplication::applicationDirPath() + QStringLiteral("/../share/winnow"));
  if (!installed.isEmpty()) return installed;
  return existingFolder(QStringLiteral(WINNOW_SOURCE_RESOURCES));
}

QString demoModelFolder() {
  const QString resources = resourceFolder();
  return resources.isEmpty() ? QString() : existingFolder(resources + QStringLiteral("/demo/model"));
}

QList<Sample> readSamples(const QString& samplesFolder) {
  QList<Sample> samples;
  try {
    const Json json = load_json(QFile::encodeName(samplesFolder + QStringLiteral("/samples.json")).toStdString());
    if (!json.is_object() || !json.contains("samples") || !json["samples"].is_array()) return samples;
    for (const Json& item : json["samples"]) {
      if (static_cast<std::size_t>(samples.size()) == kMaxSamples) break;
      try {
        Sample sample = readSample(item, samplesFolder);
        if (!sample.file.isEmpty()) samples.push_back(std::move(sample));
      } catch (const std::exception&) {
        continue;  // one bad entry does not take the others with it
      }
    }
  } catch (const std::exception&) {
    samples.clear();
  }
  return samples;
}

QList<Sample> demoSamples() {
  const QString resources = resourceFolder();
  return resources.isEmpty() ? QList<Sample>() : readSamples(resources + QStringLiteral("/demo/samples"));
}

}  // namespace winnow::app
