#include "ui/words/model_names.h"

#include <QCoreApplication>

#include "app/remote/server_address.h"
#include "engine/base/error.h"

namespace winnow::ui {

QString modelLabel(const QString& place) {
  if (!app::isServerAddress(place.toStdString())) return app::modelNameOf(place);
  try {
    const app::ServerAddress address = app::serverAddressOf(place.toStdString());
    const QString host = QString::fromStdString(address.host());
    if (address.model.empty()) return host;
    return QCoreApplication::translate("winnow::ui::ModelNames", "%1 at %2").arg(QString::fromStdString(address.model), host);
  } catch (const Exception&) {
    return place;
  }
}

QString modelOriginName(app::ModelOrigin origin) {
  switch (origin) {
    case app::ModelOrigin::kWinnow:
      return QCoreApplication::translate("winnow::ui::ModelNames", "Downloaded by Winnow");
    case app::ModelOrigin::kOllama:
      return QStringLiteral("Ollama");
    case app::ModelOrigin::kLmStudio:
      return QStringLiteral("LM Studio");
    case app::ModelOrigin::kHuggingFace:
      return QStringLiteral("Hugging Face");
    case app::ModelOrigin::kJan:
      return QStringLiteral("Jan");
    case app::ModelOrigin::kGpt4All:
      return QStringLiteral("GPT4All");
    case app::ModelOrigin::kDemo:
      return QCoreApplication::translate("winnow::ui::ModelNames", "Comes with Winnow");
    case app::ModelOrigin::kOpened:
      return QCoreApplication::translate("winnow::ui::ModelNames", "Opened from its place");
  }
  return {};
}

}  // namespace winnow::ui
