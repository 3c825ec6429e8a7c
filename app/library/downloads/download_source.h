// The source of downloads, and how patient they are.
//
// The environment decides as it does for pip; tests put in a server of their own. Threads: any.
#pragma once

#include <QString>
#include <functional>

namespace winnow::app {

struct DownloadSource {
  QString index{};         // address of a "simple" package index
  QString certificates{};  // PEM file of those to trust; empty: the system's
  // Http to this very machine, for tests and an HF_ENDPOINT that names it. All else is https, whatever an index or a redirect says.
  bool plainLoopback = false;
  int patienceMs = 30'000;                                   // without a byte, or with less than leastBytes
  qint64 leastBytes = 32 << 10;                              // some 1 KiB a second
  int retryMs = 1000;                                        // before a broken connection is taken up again; doubles where a server refuses
  int mostWaitSeconds = 300;                                 // that a server may ask for; longer: the download ends and says so
  std::function<qint64(const QString& folder)> freeBytes{};  // negative: unknown

  // PIP_INDEX_URL, else PyPI; PIP_CERT, else SSL_CERT_FILE, else the system's certificates.
  static DownloadSource fromEnvironment();
};

}  // namespace winnow::app
