// The program's log: one rotating file, category and level per line.
//
// Made by bootstrap, passed to whoever logs; also receives Qt's own messages once installed. Never prompts, replies or file contents.
// Lines: "2026-01-31T12:00:00.000Z info chat text". 20 MB a file, five files (winnow.log, winnow.1.log ...).
// Errors: a log that cannot be written is silent; the program goes on. Threads: write() from any.
#pragma once

#include <QFile>
#include <QString>
#include <mutex>

namespace winnow::app {

enum class LogLevel : int { kTrace = 1, kDebug = 2, kInfo = 3, kWarning = 4, kError = 5 };

struct LogLimits {
  qint64 fileBytes = 20'000'000;
  int fileCount = 5;
};

class Log {
 public:
  explicit Log(const QString& folder, LogLevel level = LogLevel::kInfo, LogLimits limits = {});
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(LogLevel level, const char* category, const QString& text);
  void setLevel(LogLevel level);
  LogLevel level() const;
  QString file() const { return m_path; }

  // Sends qDebug() and its kin here (category "qt"); undone by the destructor. At most one Log at a time.
  void captureQtMessages();

 private:
  void rotate();

  const QString m_path;
  const LogLimits m_limits;
  mutable std::mutex m_mutex;  // guards the members below
  LogLevel m_level;
  QFile m_file;
  qint64 m_fileBytes = 0;
  bool m_captures = false;
};

}  // namespace winnow::app
