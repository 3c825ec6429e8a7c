#include "app/ground/process/path_variable.h"

#include <QDir>

namespace winnow::app {

QString pathVariable(const char* name) {
  const QString value = qEnvironmentVariable(name);
  return QDir::isAbsolutePath(value) ? QDir::cleanPath(value) : QString();
}

}  // namespace winnow::app
