#include "app/ground/diagnostics/system_report.h"

#include <sqlite3.h>

#include <QFile>
#include <QSysInfo>
#include <QThread>
#include <algorithm>
#include <array>

namespace winnow::app {

namespace {

constexpr qint64 kMaxProcBytes = 1 << 20;
const QString kMemoryFile = QStringLiteral("/proc/meminfo");
constexpr std::array kFeatures = {"sse4_2",   "avx",      "f16c",     "fma",   "avx2",    "avx512f", "avx512_vnni", "avx512_bf16",
                                  "amx_tile", "amx_bf16", "amx_int8", "asimd", "asimddp", "sve",     "bf16",        "i8mm"};

QByteArray readProc(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.read(kMaxProcBytes) : QByteArray();
}

// Value of the first line "key : value".
QByteArray field(const QByteArray& text, const char* key) {
  for (const QByteArray& line : text.split('\n')) {
    const qsizetype colon = line.indexOf(':');
    if (colon > 0 && line.left(colon).trimmed() == key) return line.mid(colon + 1).trimmed();
  }
  return {};
}

qint64 memoryField(const QByteArray& text, const char* key) { return field(text, key).split(' ').value(0).toLongLong() * 1024; }

QString gibibytes(qint64 bytes) {
  return bytes > 0 ? QString::number(static_cast<double>(bytes) / (1 << 30), 'f', 1) + QStringLiteral(" GiB") : QStringLiteral("unknown");
}

}  // namespace

qint64 memoryBytes() { return memoryField(readProc(kMemoryFile), "MemTotal"); }

SystemFacts readSystemFacts() {
  SystemFacts facts;
  facts.operatingSystem = QSysInfo::prettyProductName();
  facts.kernel = QSysInfo::kernelType() + QLatin1Char(' ') + QSysInfo::kernelVersion();
  facts.cpuThreads = QThread::idealThreadCount();
  const QByteArray cpu = readProc(QStringLiteral("/proc/cpuinfo"));
  facts.cpu = QString::fromUtf8(field(cpu, "model name"));
  if (facts.cpu.isEmpty()) facts.cpu = QSysInfo::currentCpuArchitecture();
  QByteArray flags = field(cpu, "flags");
  if (flags.isEmpty()) flags = field(cpu, "Features");
  const QList<QByteArray> present = flags.split(' ');
  for (const char* feature : kFeatures)
    if (present.contains(feature)) facts.cpuFeatures.push_back(QString::fromLatin1(feature));
  const QByteArray memory = readProc(kMemoryFile);
  facts.memoryBytes = memoryField(memory, "MemTotal");
  facts.memoryAvailableBytes = memoryField(memory, "MemAvailable");
  return facts;
}

QString systemReport(const QList<QPair<QString, QString>>& lines) {
  const SystemFacts facts = readSystemFacts();
  QList<QPair<QString, QString>> all = {
      {QStringLiteral("Winnow"), QStringLiteral(WINNOW_VERSION)},
      {QStringLiteral("System"), facts.operatingSystem + QStringLiteral(", ") + facts.kernel},
      {QStringLiteral("CPU"), facts.cpu + QStringLiteral(", %1 threads").arg(facts.cpuThreads)},
      {QStringLiteral("CPU features"), facts.cpuFeatures.isEmpty() ? QStringLiteral("unknown") : facts.cpuFeatures.join(QLatin1Char(' '))},
      {QStringLiteral("Memory"), gibibytes(facts.memoryBytes) + QStringLiteral(", free ") + gibibytes(facts.memoryAvailableBytes)},
      {QStringLiteral("Qt"), QString::fromLatin1(qVersion())},
      {QStringLiteral("SQLite"), QString::fromLatin1(sqlite3_libversion())},
  };
  all += lines;
  QString report;
  for (const auto& [name, value] : all) report += name + QStringLiteral(": ") + value + QLatin1Char('\n');
  return report;
}

}  // namespace winnow::app
