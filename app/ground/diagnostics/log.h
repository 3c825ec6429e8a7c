// The program's log: one rotating file, category and level per line.
//
// Made by bootstrap, passed to whoever logs (logged_engine.h); also receives Qt's own messages once installed. What somebody who reports a
// fault can send as it is: never prompts, replies, file contents or names of attached files.
// Lines: "2026-01-31T12:00:00.000Z info engine text". 2 MB a file, three files (winnow.log, winnow.1.log, winnow.2.log).
// Errors: a log that cannot be written is silent; the program goes on. Threads: write() from any.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QString>
#include <mutex>

namespace winnow::app {

enum class LogLevel : int { kDebug = 2, kInfo = 3, kWarning = 4, kError = 5 };

struct LogLimits {
  qint64 fileBytes = 2'000'000;
  int fileCount = 3;
};

// "debug", "info", "warning", "error"; anything else: info.
LogLevel logLevel(const QByteArray& word);

// With "<path>" for every word that holds a slash.
QString withoutPaths(const QString& text);

class Log {
 public:
  explicit Log(const QString& folder, LogLevel level = LogLevel::kInfo, LogLimits limits = {});
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(LogLevel level, const char* category, const QString& text);
  QString file() const { return m_path; }

  // Sends qDebug() and its kin here (category "qt"); undone by the destructor. At most one Log at a time.
  void captureQtMessages();

 private:
  void rotate();

  const QString m_path;
  const LogLimits m_limits;
  const LogLevel m_level;
  std::mutex m_mutex;  // guards the members below
  QFile m_file;
  qint64 m_fileBytes = 0;
  bool m_captures = false;
};

}  // namespace winnow::app
