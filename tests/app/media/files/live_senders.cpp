#include "tests/app/media/files/live_senders.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

namespace winnow::app::samples {
namespace {

constexpr int kStepMs = 5;
constexpr std::size_t kDatagramBytes = 7 * 188;

void rest(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Writes what the descriptor takes, until all is written, the reader is gone or the sender is to stop.
void writeAll(int descriptor, const Bytes& bytes, const std::atomic<bool>& stopping) {
  for (std::size_t done = 0; done < bytes.size() && !stopping;) {
    const ssize_t put = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (put > 0) done += static_cast<std::size_t>(put);
    if (put < 0 && errno != EAGAIN) return;
    if (put < 0) rest(kStepMs);
  }
}

void setNonBlocking(int descriptor) { ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int boundPort(int descriptor) {
  sockaddr_in address = loopback(0);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) throw std::runtime_error("no port is free");
  socklen_t bytes = sizeof address;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes);
  return ntohs(address.sin_port);
}

}  // namespace

Sender::Sender(Body body) {
  ::signal(SIGPIPE, SIG_IGN);
  m_thread = std::thread([this, body = std::move(body)] { body(m_stopping); });
}

Sender::~Sender() {
  m_stopping = true;
  m_thread.join();
}

void makePipe(const std::string& file) {
  if (::mkfifo(file.c_str(), 0600) != 0) throw std::runtime_error("no pipe can be made");
}

Sender::Body writePipe(const std::string& file, const Bytes& bytes, Afterwards afterwards) {
  return [=](const std::atomic<bool>& stopping) {
    int pipe = -1;
    while (pipe < 0 && !stopping) {
      pipe = ::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);  // fails while nobody reads
      if (pipe < 0) rest(kStepMs);
    }
    if (pipe < 0) return;
    writeAll(pipe, bytes, stopping);
    while (afterwards == Afterwards::kStayOpen && !stopping) rest(kStepMs);
    ::close(pipe);
  };
}

Sender::Body appendTo(const std::string& file, const Bytes& bytes, int pieces) {
  return [=](const std::atomic<bool>& stopping) {
    const std::size_t step = bytes.size() / static_cast<std::size_t>(pieces) + 1;
    for (std::size_t at = 0; at < bytes.size() && !stopping; at += step) {
      std::ofstream stream(file, std::ios::binary | std::ios::app);
      stream.write(reinterpret_cast<const char*>(bytes.data()) + at, static_cast<std::streamsize>(std::min(step, bytes.size() - at)));
      stream.close();
      rest(kStepMs);
    }
  };
}

Server::Server(Answer answer) : m_answer(std::move(answer)), m_listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  ::signal(SIGPIPE, SIG_IGN);
  m_port = boundPort(m_listening);
  if (::listen(m_listening, 4) != 0) throw std::runtime_error("no server can be started");
  setNonBlocking(m_listening);
  m_thread = std::thread([this] { serve(); });
}

Server::~Server() {
  m_stopping = true;
  m_thread.join();
  ::close(m_listening);
}

void Server::serve() {
  while (!m_stopping) {
    const int caller = ::accept4(m_listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (caller < 0) {
      rest(kStepMs);
      continue;
    }
    ++m_callers;
    std::string request;
    while (m_answer.request && !m_stopping && request.find("\r\n\r\n") == std::string::npos) {
      char block[512];
      const ssize_t got = ::read(caller, block, sizeof block);
      if (got > 0) request.append(block, static_cast<std::size_t>(got));
      if (got == 0) break;
      if (got < 0) rest(kStepMs);
    }
    writeAll(caller, m_answer.bytes, m_stopping);
    while (m_answer.afterwards == Afterwards::kStayOpen && !m_stopping) rest(kStepMs);
    ::close(caller);
  }
}

int freeUdpPort() {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int port = boundPort(descriptor);
  ::close(descriptor);
  return port;
}

Sender::Body sendDatagrams(int port, const Bytes& bytes, const std::atomic<bool>& stop) {
  return [port, bytes, &stop](const std::atomic<bool>& stopping) {
    const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    while (!stopping && !stop) {
      for (std::size_t at = 0; at < bytes.size() && !stopping && !stop; at += kDatagramBytes) {
        const std::size_t size = std::min(kDatagramBytes, bytes.size() - at);
        ::sendto(descriptor, bytes.data() + at, size, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        rest(1);
      }
    }
    ::close(descriptor);
  };
}

const Bytes& recorded(const std::string& ending, int frames, const std::string& more) {
  static std::map<std::string, Bytes> made;
  const std::string arguments = numbered(frames, 10) + " -c:v libx264 -preset ultrafast -g 10 " + more;
  const auto found = made.find(ending + arguments);
  if (found != made.end()) return found->second;
  return made[ending + arguments] = readBytes(make("recorded" + ending, arguments));
}

Bytes textBytes(const std::string& text) { return {text.begin(), text.end()}; }

Bytes joined(const Bytes& first, const Bytes& second) {
  Bytes both = first;
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

LiveRequest live(const std::string& address, double everyS, double stallS) { return {parseLiveAddress(address), address, everyS, stallS}; }

LiveClip collect(LiveSource& source, int most) {
  LiveClip all;
  while (!all.ended()) {
    LiveClip clip = source.next(most, {});
    EXPECT_LE(clip.frames.size(), static_cast<std::size_t>(most));
    std::move(clip.frames.begin(), clip.frames.end(), std::back_inserter(all.frames));
    all.notices.insert(all.notices.end(), clip.notices.begin(), clip.notices.end());
    all.end = clip.end;
  }
  return all;
}

std::vector<int> numbersIn(const LiveClip& clip) {
  std::vector<int> numbers;
  for (const SampledFrame& frame : clip.frames) numbers.push_back(numberIn(frame.image));
  return numbers;
}

Error liveError(const LiveRequest& request, const MediaLimits& limits) {
  try {
    LiveSource source(request, limits);
    collect(source);
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << request.address << " was read without an error";
  return {};
}

}  // namespace winnow::app::samples
