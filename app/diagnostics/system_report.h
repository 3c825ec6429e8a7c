// Text for "Copy diagnostics" and --version --verbose: versions, machine, CPU features, libraries. No prompts, names of files or users.
//
// Used by ui's About page and the terminal program. Versions of libraries that app/diagnostics does not link (torch, FFmpeg, OpenCV)
// are handed in by bootstrap. Reads /proc: a few ms; any thread.
#pragma once

#include <QList>
#include <QPair>
#include <QString>
#include <QStringList>

namespace winnow::app {

struct SystemFacts {
  QString operatingSystem;
  QString kernel;
  QString cpu;
  QStringList cpuFeatures;  // those that matter here: avx2, avx512f, amx_bf16 ...
  int cpuThreads = 0;
  qint64 memoryBytes = 0;
  qint64 memoryAvailableBytes = 0;
};

SystemFacts readSystemFacts();

// `lines`: (name, version or note), e.g. ("libtorch", "2.11.0"), ("Device", "cpu: no CUDA driver").
QString systemReport(const QList<QPair<QString, QString>>& lines);

}  // namespace winnow::app
