#include "app/ground/worker/worker_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace winnow::app {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::size_t kSmallBytes = std::size_t{64} << 10;
constexpr std::int64_t kLongestPollMs = 1'000'000'000;

// False: the time is over, or only another one is readable.
bool waitFor(int socket, short what, milliseconds patience, std::span<const int> others = {}) {
  const Clock::time_point end = Clock::now() + patience;
  std::vector<pollfd> entries{{socket, what, 0}};
  for (const int other : others) entries.push_back({other, POLLIN, 0});
  while (true) {
    const auto left = std::clamp<std::int64_t>(std::chrono::ceil<milliseconds>(end - Clock::now()).count(), 0, kLongestPollMs);
    const int ready = ::poll(entries.data(), entries.size(), patience.count() < 0 ? -1 : static_cast<int>(left));
    if (ready > 0) return entries.front().revents != 0;
    if (ready == 0) return false;
    if (errno != EINTR) throw ChannelBroken(ChannelBroken::Cause::kClosed);
  }
}

}  // namespace

const char* ChannelBroken::what() const noexcept {
  switch (m_cause) {
    case Cause::kClosed: return "the other process has ended";
    case Cause::kGarbage: return "the other process sent something that is no message";
    case Cause::kStuck: return "the other process does not take what is sent";
  }
  return "";
}

WorkerChannel::WorkerChannel(OpenFile socket, milliseconds sendPatience) : m_socket(std::move(socket)), m_sendPatience(sendPatience) {}

void WorkerChannel::send(std::uint32_t kind, std::span<const std::uint8_t> bytes, std::span<const int> files) {
  const Header header{kMark, kind, bytes.size(), static_cast<std::uint32_t>(files.size()), 0};
  const auto* first = reinterpret_cast<const std::uint8_t*>(&header);
  const std::lock_guard lock(m_sending);
  if (bytes.size() > kSmallBytes) {
    sendAll({first, sizeof header}, files);
    sendAll(bytes, {});
    return;
  }
  // A token's event wakes its reader once.
  std::vector<std::uint8_t> whole(first, first + sizeof header);
  whole.insert(whole.end(), bytes.begin(), bytes.end());
  sendAll(whole, files);
}

void WorkerChannel::sendAll(std::span<const std::uint8_t> bytes, std::span<const int> files) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFiles)> control{};
  while (!bytes.empty()) {
    iovec piece{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!files.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(sizeof(int) * files.size());
      cmsghdr* entry = CMSG_FIRSTHDR(&message);
      entry->cmsg_level = SOL_SOCKET;
      entry->cmsg_type = SCM_RIGHTS;
      entry->cmsg_len = CMSG_LEN(sizeof(int) * files.size());
      std::memcpy(CMSG_DATA(entry), files.data(), sizeof(int) * files.size());
    }
    const ssize_t sent = ::sendmsg(m_socket.descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      files = {};
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!waitFor(m_socket.descriptor(), POLLOUT, m_sendPatience)) throw ChannelBroken(ChannelBroken::Cause::kStuck);
    } else if (errno != EINTR) {
      throw ChannelBroken(ChannelBroken::Cause::kClosed);
    }
  }
}

std::optional<ChannelMessage> WorkerChannel::receive(milliseconds patience, std::span<const int> others) {
  const Clock::time_point end = Clock::now() + patience;
  while (!whole()) {
    if (readMore()) continue;
    const auto left = patience.count() < 0 ? patience : std::chrono::ceil<milliseconds>(end - Clock::now());
    if (patience.count() >= 0 && left.count() < 0) return std::nullopt;
    if (!waitFor(m_socket.descriptor(), POLLIN, left, others)) return std::nullopt;
  }
  if (m_coming.files.size() != m_header.files) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
  m_coming.kind = m_header.kind;
  m_headerBytes = 0;
  return std::exchange(m_coming, {});
}

// False: nothing has come.
bool WorkerChannel::readMore() {
  const bool inHeader = m_headerBytes < sizeof(Header);
  const std::size_t had = m_coming.bytes.size();
  iovec piece{};
  if (inHeader) {
    piece = {reinterpret_cast<char*>(&m_header) + m_headerBytes, sizeof(Header) - m_headerBytes};
  } else {
    m_coming.bytes.resize(had + std::min<std::size_t>(m_header.bytes - had, kPieceBytes));
    piece = {m_coming.bytes.data() + had, m_coming.bytes.size() - had};
  }
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFiles)> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (inHeader) {  // files that come with anything else are closed by the kernel
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  ssize_t got = -1;
  do {
    got = ::recvmsg(m_socket.descriptor(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (!inHeader) m_coming.bytes.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  if (got <= 0) throw ChannelBroken(ChannelBroken::Cause::kClosed);
  for (cmsghdr* entry = inHeader ? CMSG_FIRSTHDR(&message) : nullptr; entry != nullptr; entry = CMSG_NXTHDR(&message, entry)) {
    if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
    std::vector<int> descriptors((entry->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(descriptors.data(), CMSG_DATA(entry), descriptors.size() * sizeof(int));
    for (const int descriptor : descriptors) m_coming.files.emplace_back(descriptor);
  }
  if (!inHeader) return true;
  m_headerBytes += static_cast<std::size_t>(got);
  const bool wrong =
      m_headerBytes == sizeof(Header) && (m_header.mark != kMark || m_header.bytes > kMostBytes || m_header.files > kMostFiles);
  if (wrong || m_coming.files.size() > kMostFiles) throw ChannelBroken(ChannelBroken::Cause::kGarbage);
  return true;
}

}  // namespace winnow::app
