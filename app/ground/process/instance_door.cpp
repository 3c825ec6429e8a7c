#include "app/ground/process/instance_door.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSocketNotifier>
#include <QThread>
#include <QTimer>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace winnow::app {
namespace {

constexpr int kMaxVisitors = 8;
constexpr int kRetryMs = 50;
constexpr char kTaken[] = "taken\n";

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : m_descriptor(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (m_descriptor >= 0) ::close(m_descriptor);
  }
  int get() const { return m_descriptor; }

 private:
  int m_descriptor;
};

int newSocket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

std::optional<sockaddr_un> addressOf(const QByteArray& path) {
  sockaddr_un address{};
  if (path.size() >= static_cast<qsizetype>(sizeof(address.sun_path))) return std::nullopt;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.constData(), static_cast<std::size_t>(path.size()));
  return address;
}

bool isOfThisUser(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

QByteArray toBytes(const StartRequest& request) {
  QJsonArray files;
  for (const QByteArray& file : request.files) files.append(QString::fromLatin1(file.toBase64()));
  const QJsonObject object{{QStringLiteral("files"), files},
                           {QStringLiteral("question"), request.question},
                           {QStringLiteral("model_folder"), request.modelFolder},
                           {QStringLiteral("activation_token"), QString::fromLatin1(request.activationToken.toBase64())}};
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<StartRequest> fromBytes(const QByteArray& bytes) {
  const QJsonDocument document = QJsonDocument::fromJson(bytes);
  if (!document.isObject()) return std::nullopt;
  const QJsonObject object = document.object();
  StartRequest request;
  request.question = object.value(QLatin1String("question")).toString();
  request.modelFolder = object.value(QLatin1String("model_folder")).toString();
  request.activationToken = QByteArray::fromBase64(object.value(QLatin1String("activation_token")).toString().toLatin1());
  // Relative names would be looked for in the wrong folder.
  for (const QJsonValue& value : object.value(QLatin1String("files")).toArray()) {
    const QByteArray file = QByteArray::fromBase64(value.toString().toLatin1());
    if (!file.startsWith('/') || file.contains('\0')) return std::nullopt;
    request.files.append(file);
  }
  if (!request.modelFolder.isEmpty() && !request.modelFolder.startsWith(QLatin1Char('/'))) return std::nullopt;
  return request;
}

// True when the socket can be read or written (`events`) before the time is over.
bool waitFor(int socket, short events, int timeoutMs) {
  pollfd poll{socket, events, 0};
  return timeoutMs > 0 && ::poll(&poll, 1, timeoutMs) == 1;
}

bool handOver(const QByteArray& path, const QByteArray& message, int patienceMs) {
  const std::optional<sockaddr_un> address = addressOf(path);
  const Descriptor socket(newSocket());
  if (!address || socket.get() < 0) return false;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) return false;
  if (!isOfThisUser(socket.get())) return false;
  QElapsedTimer elapsed;
  elapsed.start();
  const auto left = [&] { return patienceMs - static_cast<int>(elapsed.elapsed()); };
  for (qsizetype sent = 0; sent < message.size();) {
    if (!waitFor(socket.get(), POLLOUT, left())) return false;
    const ssize_t bytes = ::send(socket.get(), message.constData() + sent, static_cast<std::size_t>(message.size() - sent), MSG_NOSIGNAL);
    if (bytes < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (bytes > 0) sent += bytes;
  }
  ::shutdown(socket.get(), SHUT_WR);
  QByteArray answer;
  while (answer != kTaken) {
    char buffer[sizeof(kTaken)];
    if (!waitFor(socket.get(), POLLIN, left())) return false;
    const ssize_t bytes = ::recv(socket.get(), buffer, sizeof(buffer), 0);
    if (bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (bytes > 0) answer.append(buffer, bytes);
    if (answer.size() >= static_cast<qsizetype>(sizeof(kTaken))) return false;
  }
  return true;
}

// One that knocked: read to the end of its message, answered, gone.
class Visitor : public QObject {
 public:
  Visitor(int socket, InstanceDoor* door) : QObject(door), m_door(door), m_socket(socket), m_bell(socket, QSocketNotifier::Read) {
    connect(&m_bell, &QSocketNotifier::activated, this, &Visitor::read);
    QTimer::singleShot(InstanceDoor::kVisitMs, this, &QObject::deleteLater);
  }

 private:
  void read() {
    char buffer[4096];
    const ssize_t bytes = ::recv(m_socket.get(), buffer, sizeof(buffer), 0);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes > 0) m_message.append(buffer, bytes);
    if (bytes > 0 && m_message.size() <= InstanceDoor::kMaxMessageBytes) return;
    m_bell.setEnabled(false);
    const std::optional<StartRequest> request = bytes == 0 ? fromBytes(m_message) : std::nullopt;
    const bool taken = request && ::send(m_socket.get(), kTaken, sizeof(kTaken) - 1, MSG_NOSIGNAL) > 0;
    deleteLater();
    if (taken) Q_EMIT m_door->knocked(*request);
  }

  InstanceDoor* m_door;
  const Descriptor m_socket;
  QSocketNotifier m_bell;  // after the socket that it watches
  QByteArray m_message;
};

}  // namespace

InstanceDoor::InstanceDoor(const QString& folder, QObject* parent)
    : QObject(parent),
      m_socketPath(QFile::encodeName(folder + QStringLiteral("/winnow.socket"))),
      m_lock(folder + QStringLiteral("/winnow.socket.lock")) {}

InstanceDoor::~InstanceDoor() {
  m_bell.reset();
  if (m_listener < 0) return;
  ::unlink(m_socketPath.constData());  // while the lock is still held
  ::close(m_listener);
}

InstanceDoor::Entry InstanceDoor::enter(const StartRequest& request, int patienceMs) {
  const QByteArray message = toBytes(request);
  QDir().mkpath(QFileInfo(QFile::decodeName(m_socketPath)).path());
  QElapsedTimer elapsed;
  elapsed.start();
  do {
    if (m_lock.tryAcquire()) return listen() ? Entry::kFirst : Entry::kAlone;
    if (!m_lock.heldElsewhere() || message.size() > kMaxMessageBytes) return Entry::kAlone;
    if (handOver(m_socketPath, message, patienceMs - static_cast<int>(elapsed.elapsed()))) return Entry::kHandedOver;
    QThread::msleep(kRetryMs);
  } while (elapsed.elapsed() < patienceMs);
  return Entry::kAlone;
}

bool InstanceDoor::listen() {
  const std::optional<sockaddr_un> address = addressOf(m_socketPath);
  if (!address) return false;
  m_listener = newSocket();
  if (m_listener < 0) return false;
  ::unlink(m_socketPath.constData());  // of one that was killed
  if (::bind(m_listener, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0 ||
      ::chmod(m_socketPath.constData(), 0600) != 0 || ::listen(m_listener, kMaxVisitors) != 0) {
    ::close(std::exchange(m_listener, -1));
    return false;
  }
  m_bell = std::make_unique<QSocketNotifier>(m_listener, QSocketNotifier::Read);
  connect(m_bell.get(), &QSocketNotifier::activated, this, &InstanceDoor::letIn);
  return true;
}

void InstanceDoor::letIn() {
  const int socket = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  if (!isOfThisUser(socket) || children().size() >= kMaxVisitors) {
    ::close(socket);
    return;
  }
  new Visitor(socket, this);
}

}  // namespace winnow::app
