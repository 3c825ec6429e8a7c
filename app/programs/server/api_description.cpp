#include "app/programs/server/api_description.h"

#include <QFile>

// Resources of a static library are there once this has run.
static void openDescription() { Q_INIT_RESOURCE(openapi); }

namespace winnow::app {

std::string apiDescription(const std::string& version) {
  openDescription();
  QFile file(QStringLiteral(":/openapi.json"));
  const bool opened = file.open(QIODevice::ReadOnly);
  Q_ASSERT(opened);
  return file.readAll().trimmed().replace("\"@\"", QByteArray::fromStdString('"' + version + '"')).toStdString();
}

}  // namespace winnow::app
