#include "app/ground/diagnostics/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDateTime>
#include <QDir>
#include <QStringList>
#include <atomic>

namespace winnow::app {

namespace {

constexpr int kMaxLineCharacters = 4000;

std::atomic<Log*> capturing{nullptr};
QtMessageHandler previousHandler = nullptr;

const char* nameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "info";
}

LogLevel levelOf(QtMsgType type) {
  switch (type) {
    case QtDebugMsg: return LogLevel::kDebug;
    case QtInfoMsg: return LogLevel::kInfo;
    case QtWarningMsg: return LogLevel::kWarning;
    default: return LogLevel::kError;
  }
}

void handleQtMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
  if (Log* log = capturing.load()) log->write(levelOf(type), "qt", withoutPaths(text));
  if (previousHandler) previousHandler(type, context, text);
}

// One line per entry, whatever a text holds.
QByteArray oneLine(const QString& text) {
  QString line = text.left(kMaxLineCharacters);
  for (QChar& c : line)
    if (c.category() == QChar::Other_Control || c == QChar::LineSeparator || c == QChar::ParagraphSeparator) c = QLatin1Char(' ');
  return line.toUtf8();
}

QString numbered(const QString& path, int number) { return number == 0 ? path : path.chopped(4) + QStringLiteral(".%1.log").arg(number); }

// A FIFO without a reader would wait forever, a device would take everything: only a regular file is a log.
// The path is named: a file that was once opened by its descriptor has forgotten its own.
bool openRegular(QFile& file, const QString& path, int flags) {
  const int descriptor = ::open(QFile::encodeName(path).constData(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0600);
  if (descriptor < 0) return false;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      file.open(descriptor, QIODevice::WriteOnly | QIODevice::Append, QFileDevice::AutoCloseHandle)) {
    return true;
  }
  ::close(descriptor);
  return false;
}

}  // namespace

LogLevel logLevel(const QByteArray& word) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kWarning, LogLevel::kError}) {
    if (word == nameOf(level)) return level;
  }
  return LogLevel::kInfo;
}

QString withoutPaths(const QString& text) {
  QStringList words = text.split(QLatin1Char(' '));
  for (QString& word : words) {
    if (word.contains(QLatin1Char('/'))) word = QStringLiteral("<path>");
  }
  return words.join(QLatin1Char(' '));
}

Log::Log(const QString& folder, LogLevel level, LogLimits limits)
    : m_path(folder + QStringLiteral("/winnow.log")), m_limits(limits), m_level(level), m_file(m_path) {
  QDir().mkpath(folder);
  if (openRegular(m_file, m_path, O_APPEND)) m_fileBytes = m_file.size();
}

Log::~Log() {
  if (!m_captures) return;
  qInstallMessageHandler(previousHandler);
  capturing.store(nullptr);
}

void Log::captureQtMessages() {
  Log* none = nullptr;
  if (!capturing.compare_exchange_strong(none, this)) return;
  m_captures = true;
  previousHandler = qInstallMessageHandler(handleQtMessage);
}

void Log::write(LogLevel level, const char* category, const QString& text) {
  if (level < m_level) return;
  const QByteArray line = QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs).toLatin1() + ' ' + nameOf(level) + ' ' + category +
                          ' ' + oneLine(text) + '\n';
  const std::lock_guard lock(m_mutex);
  if (!m_file.isOpen()) return;
  if (m_fileBytes > 0 && m_fileBytes + line.size() > m_limits.fileBytes) rotate();
  if (m_file.write(line) == line.size()) m_fileBytes += line.size();
  m_file.flush();
}

void Log::rotate() {
  m_file.close();
  QFile::remove(numbered(m_path, m_limits.fileCount - 1));
  for (int number = m_limits.fileCount - 2; number >= 0; --number) QFile::rename(numbered(m_path, number), numbered(m_path, number + 1));
  // Truncated in case a rename failed: the log stays within its size.
  openRegular(m_file, m_path, O_TRUNC);
  m_fileBytes = 0;
}

}  // namespace winnow::app
