// Messages between this process and one that it started: a kind, bytes and open files, over one of two connected stream sockets.
//
// Input may be hostile: the header's marks, length and number of files are checked first, and memory is taken as bytes arrive. A
// message is given whole or not at all. Errors: ChannelBroken, after which the channel is of no use any more.
// Threads: one at a time receives; any may send.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "app/ground/process/open_file.h"
#include "engine/messages/wire.h"

namespace winnow::app {

class ChannelBroken : public std::exception {
 public:
  enum class Cause : int {
    kClosed = 1,   // the other side has ended, perhaps in the middle of a message
    kGarbage = 2,  // what came is no message
    kStuck = 3,    // the other side does not take what is sent
  };
  explicit ChannelBroken(Cause cause) : m_cause(cause) {}
  Cause cause() const noexcept { return m_cause; }
  const char* what() const noexcept override;

 private:
  Cause m_cause;
};

struct ChannelMessage {
  std::uint32_t kind = 0;  // of the protocol that uses the channel
  std::vector<std::uint8_t> bytes;
  std::vector<OpenFile> files;
};

class WorkerChannel {
 public:
  static constexpr std::size_t kMostBytes = kMostWireBytes;
  static constexpr std::size_t kMostFiles = 16;
  static constexpr std::chrono::seconds kSendPatience{10};  // without a byte being taken

  // sendPatience: negative: for ever, for a side whose messages wait until somebody reads the program's output.
  explicit WorkerChannel(OpenFile socket, std::chrono::milliseconds sendPatience = kSendPatience);

  // files: stay the caller's.
  void send(std::uint32_t kind, std::span<const std::uint8_t> bytes, std::span<const int> files = {});
  // Nothing: no whole message came in this time, or one of `others` (descriptors) became readable; what came of one is kept for the next
  // call. Negative patience: for ever.
  std::optional<ChannelMessage> receive(std::chrono::milliseconds patience, std::span<const int> others = {});

  int descriptor() const { return m_socket.descriptor(); }

 private:
  struct Header {
    std::uint32_t mark = 0;
    std::uint32_t kind = 0;
    std::uint64_t bytes = 0;
    std::uint32_t files = 0;
    std::uint32_t unused = 0;
  };
  static constexpr std::uint32_t kMark = 0x314d4e57;  // "WNM1"

  bool readMore();
  bool whole() const { return m_headerBytes == sizeof(Header) && m_coming.bytes.size() == m_header.bytes; }
  void sendAll(std::span<const std::uint8_t> bytes, std::span<const int> files);

  const OpenFile m_socket;
  const std::chrono::milliseconds m_sendPatience;
  std::mutex m_sending;  // one whole message after another
  Header m_header;       // of the message that is coming
  std::size_t m_headerBytes = 0;
  ChannelMessage m_coming;
};

}  // namespace winnow::app
