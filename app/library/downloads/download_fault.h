// Why a model could not be had: a code, what it is about, and a reason.
//
// Sentences are made in app/words/download_words.h. Thrown within app/library/downloads, told by ModelDownload::failed. Threads: any.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
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
  kUnwritable = 10,       // the folder of models
  kBusy = 11,             // another process is fetching it
  kNoCertificates = 12,   // the file of trusted ones, PIP_CERT or SSL_CERT_FILE, cannot be read
  kTooManyRequests = 13,  // the server says how long to wait (DownloadFault::seconds)
  kOtherAnswer = 14,      // a page where data belong: a network that asks for a log-in, a proxy; what has come stays
  // Faults of the Hugging Face hub (app/library/hub).
  kNoSuchModel = 15,  // the hub has no such repository, or shows it to others only
  kNeedsToken = 16,   // it is private, or gated, and no token is known
  kGated = 17,        // its owner asks for an agreement first; subject: where it is accepted
  kNoSuchFile = 18,   // the repository has no such quantisation; choices: what it has
  kAmbiguous = 19,    // several files have that quantisation; choices: them
  kNotReadable = 20,  // it holds nothing that the engine reads
  kTooLarge = 21,     // nothing of it fits into this machine's memory; choices: what it has; bytes: what the smallest takes
  kOffline = 22,      // the network is forbidden, and the model is not here
  kChanged = 23,      // the server's file is not the one that the list named
};

struct DownloadFault {
  DownloadProblem problem = DownloadProblem::kCancelled;
  QString subject{};      // a host, an address, a folder or a file; may be empty
  QString reason{};       // one English clause without a full stop
  qint64 bytes = 0;       // kNoSpace: how much has to be free
  int status = 0;         // of HTTP, where an answer came
  QByteArray code{};      // X-Error-Code of the hub's answer
  int seconds = 0;        // kTooManyRequests: 0: it does not say
  QStringList choices{};  // what could be asked for instead
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
