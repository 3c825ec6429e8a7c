#include "app/ground/worker/engine_end.h"

#include <QFile>
#include <QProcess>

namespace winnow::app {
namespace {

constexpr int kLoaderStatus = 127;  // of a program whose libraries are not found
constexpr int kLoaderMs = 5'000;

// The first library that is not found, as the system's loader lists them; the program itself does not run. Empty: all are there.
std::string missingLibrary(const std::string& program) {
  QProcess loader;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("LD_TRACE_LOADED_OBJECTS"), QStringLiteral("1"));
  loader.setProcessEnvironment(environment);
  loader.start(QFile::decodeName(program.c_str()), QStringList());
  if (!loader.waitForFinished(kLoaderMs)) return {};
  for (const QByteArray& line : loader.readAllStandardOutput().split('\n')) {
    if (const qsizetype arrow = line.indexOf(" => not found"); arrow > 0) return line.left(arrow).trimmed().toStdString();
  }
  return {};
}

}  // namespace

Error engineEnd(const WorkerEnd& end) {
  switch (end.kind) {
    case WorkerEnd::Kind::kOutOfMemory: return {ErrorCode::kEngineOutOfMemory, "", "the engine was ended by the system to free memory"};
    case WorkerEnd::Kind::kSignal: {
      const char* const name = ::sigdescr_np(end.code);
      const std::string known = name != nullptr ? " (" + std::string(name) + ")" : "";
      return {ErrorCode::kEngineCrashed, "", "the engine was ended by signal " + std::to_string(end.code) + known};
    }
    case WorkerEnd::Kind::kExited:
      if (end.code == kNoMemoryStatus) return {ErrorCode::kEngineOutOfMemory, "", "the engine ended because it had no memory left"};
      return {ErrorCode::kEngineCrashed, "", "the engine ended with status " + std::to_string(end.code)};
    case WorkerEnd::Kind::kEnded: break;
  }
  return {ErrorCode::kEngineCrashed, "", "the engine closed its channel"};
}

Error engineStartFault(const WorkerEnd& end, const std::string& program) {
  if (end.kind != WorkerEnd::Kind::kExited || end.code != kLoaderStatus) return engineEnd(end);
  const std::string library = missingLibrary(program);
  if (library.empty()) return engineEnd(end);
  return {ErrorCode::kEngineCrashed, library, "the engine " + program + " cannot start without this library"};
}

}  // namespace winnow::app
