// A server of OpenAI's API on this machine for tests: it answers as it is told to, well or badly.
//
// Every connection serves one request. Threads: the one whose event loop runs it.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QSslCertificate>
#include <QSslKey>
#include <QTcpServer>
#include <optional>
#include <string>
#include <vector>

class QTcpSocket;

namespace winnow::test {

struct FakeAnswer {
  int status = 200;
  QByteArray type = "text/event-stream";
  QByteArray headers{};  // more of them, each with "\r\n"
  std::vector<QByteArray> pieces{};
  enum class End : int {
    kClose = 1,    // the body is over when the connection is
    kHang = 2,     // nothing more comes
    kShort = 3,    // the header promised more bytes
    kChunked = 4,  // a chunk promised more bytes
    kRepeat = 5,   // the last piece again and again
    kDrip = 6,     // the same, 20 ms apart
  };
  End end = End::kClose;
  std::optional<QByteArray> raw{};  // instead of all of it
};

// What a server writes for these words.
std::vector<QByteArray> streamOf(const std::vector<QByteArray>& words, const QByteArray& usage = {});
QByteArray chunkOf(const QByteArray& delta, const QByteArray& finishReason = "null");

class FakeModelServer : public QTcpServer {
 public:
  struct Asked {
    QByteArray method, path, head, body;
  };

  FakeModelServer();
  void encrypt(const QSslCertificate& certificate, const QSslKey& key);
  std::string url() const;  // http(s)://127.0.0.1:port/v1
  void answer(const char* path, FakeAnswer with) { m_answers[QByteArray(path)] = std::move(with); }
  void answerJson(const char* path, const QByteArray& json, int status = 200);
  // One model of this owner, and these words to every question.
  void serve(const QByteArray& owner, const std::vector<QByteArray>& words);

  std::vector<Asked> asked;
  int open() const { return m_open; }  // connections

 protected:
  void incomingConnection(qintptr descriptor) override;

 private:
  void accept();
  void reply(QTcpSocket* socket, Asked request);

  QHash<QByteArray, FakeAnswer> m_answers;  // others are 404
  QSslCertificate m_certificate;            // null: plain http
  QSslKey m_key;
  int m_open = 0;
};

}  // namespace winnow::test
