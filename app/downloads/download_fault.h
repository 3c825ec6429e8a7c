// Why a model could not be had: a code, what it is about, and a reason.
//
// Sentences are made in ui/words/download_fault_text.h and in app/cli/get_command.cpp. Thrown within app/downloads, told by
// ModelDownload::failed. Threads: any.
#pragma once

#include <QString>
#include <exception>
#include <utility>

namespace winnow::app {

enum class DownloadProblem : int {
  kCancelled = 1,      // what has come stays, the next start goes on from there
  kNoNetwork = 2,      // no such host, no route, refused, silent, broken off; what has come stays
  kNoTrust = 3,        // the server's certificate is not trusted, or this Qt has no TLS
  kInsecure = 4,       // an address or a redirect that is not https
  kServerRefused = 5,  // an HTTP status that is no success
  kNotOffered = 6,     // the index does not name the file
  kHashDiffers = 7,    // what came is not the file that was asked for; it is removed
  kDamaged = 8,        // the archive cannot be unpacked as it should
  kNoSpace = 9,
  kUnwritable = 10,      // the folder of models
  kBusy = 11,            // another process is fetching it
  kNoCertificates = 12,  // the file of trusted ones, PIP_CERT or SSL_CERT_FILE, cannot be read
};

struct DownloadFault {
  DownloadProblem problem = DownloadProblem::kCancelled;
  QString subject;   // a host, an address, a folder or a file; may be empty
  QString reason;    // one English clause without a full stop
  qint64 bytes = 0;  // kNoSpace: how much has to be free
};

class DownloadError : public std::exception {
 public:
  explicit DownloadError(DownloadFault fault) : m_fault(std::move(fault)) {}
  const DownloadFault& fault() const noexcept { return m_fault; }
  const char* what() const noexcept override { return "a download failed"; }

 private:
  DownloadFault m_fault;
};

}  // namespace winnow::app
