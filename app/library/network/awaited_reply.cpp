#include "app/library/network/awaited_reply.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>
#include <cstddef>
#include <exception>

#include "app/ground/threads/interrupt_notifier.h"

namespace winnow::app {
namespace {

constexpr int kLookMs = 100;  // at the times; an interrupt wakes the loop
constexpr std::size_t kPieceBytes = 16 << 10;

class ReplyWait {
 public:
  ReplyWait(QNetworkReply& reply, const ReplyPatience& patience, const TakePiece& take, const InterruptToken& interrupt)
      : m_reply(reply), m_patience(patience), m_take(take), m_interrupt(interrupt) {}

  ReplyEnd run() {
    boundHeldBytes(m_reply);
    QEventLoop loop;
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &loop, [&] { watch(); });
    QObject::connect(&m_reply, &QNetworkReply::requestSent, &loop, [this] { m_sent = true; });
    QObject::connect(&m_reply, &QNetworkReply::uploadProgress, &loop, [this] { m_sinceUpload.restart(); });
    QObject::connect(&m_reply, &QNetworkReply::readyRead, &loop, [this] { drain(); });
    QObject::connect(&m_reply, &QNetworkReply::finished, &loop, &QEventLoop::quit);
    m_sinceBegin.start();
    m_sinceUpload.start();
    m_sinceByte.start();
    look.start(kLookMs);
    const InterruptNotifier onInterrupt(m_interrupt, Interrupt::kNone, [this] { watch(); });
    if (!m_reply.isFinished()) loop.exec();
    look.stop();
    drain();
    if (m_thrown) std::rethrow_exception(m_thrown);
    return m_end;
  }

 private:
  bool isInterrupted() {
    if (m_end.interrupt == Interrupt::kNone) m_end.interrupt = m_interrupt.state();
    return m_end.interrupt != Interrupt::kNone;
  }

  void watch() {
    if (isInterrupted()) return m_reply.abort();
    const auto isOver = [](int patienceMs, const QElapsedTimer& since) { return patienceMs > 0 && since.elapsed() > patienceMs; };
    if (!m_sent && isOver(m_patience.connectMs, m_sinceUpload)) return giveUp(m_patience.connectMs);
    if (isOver(m_patience.wholeMs, m_sinceBegin)) return giveUp(m_patience.wholeMs);
    if (isOver(m_patience.silenceMs, m_sinceByte)) return giveUp(m_patience.silenceMs);
  }

  void giveUp(int afterMs) {
    m_end.waitedMs = afterMs;
    m_reply.abort();
  }

  void drain() {
    if (m_thrown || !m_reply.isOpen()) return;
    try {
      const QByteArray held = m_reply.readAll();
      const std::string_view bytes(held.constData(), static_cast<std::size_t>(held.size()));
      for (std::size_t at = 0; at < bytes.size() && !isInterrupted(); at += kPieceBytes) {
        m_take(bytes.substr(at, kPieceBytes));
        m_sinceByte.restart();  // whoever takes them may need long
      }
    } catch (...) {
      m_thrown = std::current_exception();
      if (!m_reply.isFinished()) m_reply.abort();
    }
  }

  QNetworkReply& m_reply;
  const ReplyPatience m_patience;
  const TakePiece& m_take;
  const InterruptToken& m_interrupt;
  ReplyEnd m_end;
  QElapsedTimer m_sinceBegin, m_sinceUpload, m_sinceByte;
  bool m_sent = false;
  std::exception_ptr m_thrown;
};

}  // namespace

ReplyEnd awaitReply(QNetworkReply& reply, const ReplyPatience& patience, const TakePiece& take, const InterruptToken& interrupt) {
  return ReplyWait(reply, patience, take, interrupt).run();
}

QNetworkRequest bareRequest(const QUrl& address) {
  QNetworkRequest request(address);
  request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
  request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
  request.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
  request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
  request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
  request.setRawHeader("Accept-Encoding", "identity");  // what is counted is what comes
  request.setRawHeader("User-Agent", "winnow");
  return request;
}

// Qt's HTTP thread hears the bound only once it has the request: a GET at once, a POST when the event loop has begun it. A bound that was
// told earlier is lost, and everything that arrives is held (Qt 6.4).
void boundHeldBytes(QNetworkReply& reply) {
  const auto tell = [&reply] { reply.setReadBufferSize(kMostHeldBytes); };
  tell();
  QMetaObject::invokeMethod(&reply, tell, Qt::QueuedConnection);
}

}  // namespace winnow::app
