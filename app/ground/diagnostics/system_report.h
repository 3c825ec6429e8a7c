// The facts that a fault report needs: versions, machine, CPU features, libraries. No prompts, names of files or users.
//
// Used by the window (Help > About Winnow > Copy system report) and by `winnow-cli system`. Versions of libraries that
// app/ground/diagnostics does not link (libtorch, FFmpeg) are handed in. Reads /proc: a few ms; any thread.
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
qint64 memoryBytes();  // of these alone, for who chooses a model by it

// `lines`: (name, version or note), e.g. ("libtorch", "2.11.0"), ("Device", "cpu: no CUDA driver").
QString systemReport(const QList<QPair<QString, QString>>& lines);

}  // namespace winnow::app
