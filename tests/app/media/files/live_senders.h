// Senders for the tests of live sources: a thread that writes bytes into a named pipe, a growing file or a socket of this machine.
//
// Every sender ends with its object. Samples are videos of numbered frames (sample_files.h).
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "app/media/files/live/live_source.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app::samples {

inline constexpr double kPatienceS = 60.0;  // a stall that must not happen, on a busy machine
inline constexpr double kSoonS = 0.5;       // a stall that is waited for

class Sender {
 public:
  // Runs until it returns or `stopping` is set; the destructor sets that and waits.
  using Body = std::function<void(const std::atomic<bool>& stopping)>;
  explicit Sender(Body body);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

 private:
  std::atomic<bool> m_stopping{false};
  std::thread m_thread;
};

// Makes the named pipe `file` and writes `bytes` into it when it is read; keeps it open for as long as it lives where `staysOpen`.
enum class Afterwards : int { kClose = 1, kStayOpen };
void makePipe(const std::string& file);
Sender::Body writePipe(const std::string& file, const Bytes& bytes, Afterwards afterwards);
// Appends `bytes` to `file` in `pieces`, a moment apart.
Sender::Body appendTo(const std::string& file, const Bytes& bytes, int pieces);

// A server on a free port of this machine: sends `greeting` (after a request was read where `request` is set) and `bytes` to each caller.
class Server {
 public:
  struct Answer {
    bool request = false;
    Bytes bytes;
    Afterwards afterwards = Afterwards::kClose;
  };
  explicit Server(Answer answer);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  int port() const { return m_port; }
  int callers() const { return m_callers; }

 private:
  void serve();
  const Answer m_answer;
  int m_listening = -1;
  int m_port = 0;
  std::atomic<int> m_callers{0};
  std::atomic<bool> m_stopping{false};
  std::thread m_thread;
};

int freeUdpPort();
// Sends `bytes` in datagrams of seven transport packets, over and over until `stop` is set.
Sender::Body sendDatagrams(int port, const Bytes& bytes, const std::atomic<bool>& stop);

// Bytes of a video of numbered frames at 10 a second: h264 with a keyframe every second, unless `more` says otherwise. Made once.
const Bytes& recorded(const std::string& ending, int frames, const std::string& more = "");

Bytes textBytes(const std::string& text);
Bytes joined(const Bytes& first, const Bytes& second);

LiveRequest live(const std::string& address, double everyS, double stallS = kPatienceS);
// Everything until the end.
LiveClip collect(LiveSource& source, int most = 8);
std::vector<int> numbersIn(const LiveClip& clip);
// The error that the source ends with; fails the test when there is none.
Error liveError(const LiveRequest& request, const MediaLimits& limits = {});

}  // namespace winnow::app::samples
