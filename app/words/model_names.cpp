#include "app/words/model_names.h"

#include <QCoreApplication>

#include "app/engine/remote/server_address.h"
#include "engine/base/error.h"

namespace winnow::app {

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
    case ModelOrigin::kWinnow:
      return QCoreApplication::translate("winnow::app::ModelNames", "Downloaded by Winnow");
    case ModelOrigin::kOllama:
      return QStringLiteral("Ollama");
    case ModelOrigin::kLmStudio:
      return QStringLiteral("LM Studio");
    case ModelOrigin::kHuggingFace:
      return QStringLiteral("Hugging Face");
    case ModelOrigin::kJan:
      return QStringLiteral("Jan");
    case ModelOrigin::kGpt4All:
      return QStringLiteral("GPT4All");
    case ModelOrigin::kDemo:
      return QCoreApplication::translate("winnow::app::ModelNames", "Comes with Winnow");
    case ModelOrigin::kOpened:
      return QCoreApplication::translate("winnow::app::ModelNames", "Opened from its place");
  }
  return {};
}

}  // namespace winnow::app
