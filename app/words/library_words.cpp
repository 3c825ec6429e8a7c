#include "app/words/library_words.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStringList>
#include <optional>

#include "app/engine/remote/server_address.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr qint64 kTokensOfThousandWords = 1333;  // of English text
const QString kBetween = QStringLiteral("  ·  ");

struct LibraryWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::app::LibraryWords)
};

QString textOf(const std::string& text) { return displayText(QString::fromStdString(text)).simplified(); }

}  // namespace

QString sightWords(Sight sight) {
  switch (sight) {
    case Sight::kVideos: return LibraryWords::tr("sees videos and images");
    case Sight::kImages: return LibraryWords::tr("sees images");
    case Sight::kNothing: break;
  }
  return LibraryWords::tr("reads text");
}

FitWords needWords(const MemoryNeed& need, const MachineMemory& memory) {
  const QString needed = formatMegabytes(need.total());
  const QString bytes = formatMegabytes(memory.bytes);
  const QString gpuBytes = formatMegabytes(memory.gpuBytes);
  switch (modelFit(need, memory)) {
    case ModelFit::kMemory:
      if (memory.bytes <= 0) return {LibraryWords::tr("Needs about %1 of memory.").arg(needed), true};
      return {LibraryWords::tr("Fits: needs about %1 of %2 of memory.").arg(needed, bytes), true};
    case ModelFit::kGpu:
      return {LibraryWords::tr("Fits the GPU: needs about %1 of its %2.").arg(formatMegabytes(need.totalOnGpu()), gpuBytes), true};
    case ModelFit::kMemoryOnly:
      return {LibraryWords::tr("Fits memory, but with its cache not the GPU (%1): needs about %2 of %3.").arg(gpuBytes, needed, bytes),
              true};
    case ModelFit::kNowhere: break;
  }
  if (memory.gpuBytes <= 0)
    return {LibraryWords::tr("Does not fit: needs about %1, and this computer has %2 of memory.").arg(needed, bytes), false};
  return {
      LibraryWords::tr("Does not fit: needs about %1, and this computer has %2 of memory and a GPU with %3.").arg(needed, bytes, gpuBytes),
      false};
}

QString modelFacts(const ListedModel& model) {
  if (model.found.hears) return QStringList{formatMegabytes(model.found.bytes), LibraryWords::tr("hears")}.join(kBetween);
  if (!model.summary) return formatMegabytes(model.found.bytes);
  const ModelSummary& summary = *model.summary;
  QStringList parts{formatMegabytes(static_cast<qint64>(summary.weight_bytes))};
  const std::string& family = summary.type.empty() ? summary.architecture : summary.type;
  if (!family.empty()) parts << textOf(family);
  parts << sightWords(!summary.sees ? Sight::kNothing : summary.reads_videos ? Sight::kVideos : Sight::kImages);
  if (summary.cache.context_tokens > 0)
    parts << LibraryWords::tr("context %1 tokens").arg(formatCount(static_cast<double>(summary.cache.context_tokens)));
  if (summary.cache.kv_bytes_per_token > 0)
    parts << LibraryWords::tr("about %1 for each 1,000 words read")
                 .arg(formatMegabytes(summary.cache.kv_bytes_per_token * kTokensOfThousandWords));
  return parts.join(kBetween);
}

QString modelPlace(const ListedModel& model) {
  if (model.found.hears) return modelOriginName(model.found.origin);  // nobody writes down when one hears
  const QString used = model.used.isValid() ? LibraryWords::tr("last used: %1").arg(formatWhen(model.used, QDateTime::currentDateTime()))
                                            : LibraryWords::tr("not used yet");
  return modelOriginName(model.found.origin) + kBetween + used;
}

FitWords fitWords(const ListedModel& model, const MachineMemory& memory) {
  if (model.found.hears) return needWords(model.need, memory);
  if (!model.summary) return {LibraryWords::tr("Cannot be read: %1").arg(sentenceOf(QString::fromStdString(model.fault))), false};
  if (!model.summary->runs) return {LibraryWords::tr("Does not run here: Winnow has no such family of models."), false};
  if (!model.summary->missing.empty()) {
    const QString reason = QString::fromStdString(model.summary->missing.front().reason);
    return {LibraryWords::tr("Something is missing: %1").arg(sentenceOf(reason)), false};
  }
  return needWords(model.need, memory);
}

QString paceWords(const KnownModel& model, const MachineMemory& memory) {
  const std::optional<double> words = wordsPerSecond(model, memory);
  if (!words || modelFit(memoryNeed(model), memory) == ModelFit::kNowhere) return {};
  if (*words < 1.0) return LibraryWords::tr("Less than one word a second here.");
  // A guess has no more digits.
  const int shown = *words < 10.0 ? qRound(*words) : 10 * qRound(*words / 10.0);
  return LibraryWords::tr("About %Ln word(s) a second here.", "", shown);
}

QString knownFacts(const KnownModel& model, const QString& host) {
  return QStringList{sightWords(model.sight), formatMegabytes(model.downloadBytes), LibraryWords::tr("licence: %1").arg(model.licence),
                     host + QLatin1Char('/') + model.repository}
      .join(kBetween);
}

FitWords checkWords(const std::vector<VerifiedFile>& files) {
  using State = VerifiedFile::State;
  QStringList wrong;
  int right = 0;
  for (const VerifiedFile& file : files) {
    if (file.state == State::kDamaged || file.state == State::kUnreadable)
      wrong << displayText(QFileInfo(file.path).fileName()).simplified();
    if (file.state == State::kRight) ++right;
  }
  if (!wrong.isEmpty()) {
    return {LibraryWords::tr("Damaged: %1. Move the model to the trash and get it again.").arg(wrong.join(QStringLiteral(", "))), false};
  }
  if (right == 0) return {LibraryWords::tr("Nobody has written down a hash of these files, so they cannot be checked."), true};
  const auto all = static_cast<int>(files.size());
  if (right < all)
    return {LibraryWords::tr("Right: %1 of %Ln file(s). The others have no hash to compare with.", "", all).arg(right), true};
  return {LibraryWords::tr("Checked: %Ln file(s), as they were published.", "", all), true};
}

QString removalWords(const RemovedModel& result, const QString& name) {
  if (result.state == RemovedModel::State::kNotOurs)
    return LibraryWords::tr("Ollama shares files between models. Run: ollama rm %1").arg(displayText(name));
  return LibraryWords::tr("%1 could not be moved to the trash. Delete it by hand if you want.").arg(displayText(result.path));
}

QString modelLabel(const QString& place) {
  if (!isServerAddress(place.toStdString())) return modelNameOf(place);
  try {
    const ServerAddress address = serverAddressOf(place.toStdString());
    const QString host = QString::fromStdString(address.host());
    if (address.model.empty()) return host;
    return QCoreApplication::translate("winnow::app::ModelNames", "%1 at %2").arg(QString::fromStdString(address.model), host);
  } catch (const Exception&) {
    return place;
  }
}

QString modelOriginName(ModelOrigin origin) {
  switch (origin) {
    case ModelOrigin::kWinnow: return QCoreApplication::translate("winnow::app::ModelNames", "Downloaded by Winnow");
    case ModelOrigin::kOllama: return QStringLiteral("Ollama");
    case ModelOrigin::kLmStudio: return QStringLiteral("LM Studio");
    case ModelOrigin::kHuggingFace: return QStringLiteral("Hugging Face");
    case ModelOrigin::kJan: return QStringLiteral("Jan");
    case ModelOrigin::kGpt4All: return QStringLiteral("GPT4All");
    case ModelOrigin::kDemo: return QCoreApplication::translate("winnow::app::ModelNames", "Comes with Winnow");
    case ModelOrigin::kOpened: return QCoreApplication::translate("winnow::app::ModelNames", "Opened from its place");
  }
  return {};
}

}  // namespace winnow::app
