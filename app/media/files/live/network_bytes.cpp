#include "app/media/files/live/network_bytes.h"

#include <algorithm>

#include "app/media/files/allowed_video.h"

namespace winnow::app {
namespace {

// The protocols that one is built on. A server may send on from http to https, but not to where nobody vouches for it.
std::string neededProtocols(const std::string& scheme) {
  if (scheme == "https") return "https,tls,tcp";
  return scheme == "http" ? "http,https,tls,tcp" : scheme;
}

// The buffer in which datagrams wait while a picture is decoded: packets of 188 bytes.
constexpr const char* kDatagramBufferPackets = "43690";  // 8 MB

}  // namespace

bool NetworkBytes::canRead(const std::string& scheme) {
  void* position = nullptr;
  while (const char* name = avio_enum_protocols(&position, 0)) {
    if (scheme == name) return true;
  }
  return false;
}

NetworkBytes::NetworkBytes(const std::string& address, StallGuard& watch) : m_watch(watch) {
  prepareFfmpeg();
  const std::string scheme = address.substr(0, address.find(':'));
  AvOptions options;
  options.set("protocol_whitelist", neededProtocols(scheme));
  if (scheme == "udp") {
    options.set("fifo_size", kDatagramBufferPackets);
    options.set("overrun_nonfatal", "1");
  } else if (scheme != "tcp") {
    options.set("seekable", "0");
    options.set("icy", "0");
    options.set("tls_verify", "1");  // FFmpeg's default takes any certificate
  }
  const AVIOInterruptCB interrupt{&StallGuard::callback, &watch};
  m_watch.begin();
  const int opened = avio_open2(&m_io, address.c_str(), AVIO_FLAG_READ, &interrupt, options.get());
  if (opened >= 0) return;
  m_io = nullptr;
  if (m_watch.shouldStop()) {
    endBy(opened);
    return;
  }
  if (opened == AVERROR(EINVAL) && scheme.starts_with("http")) {
    throw Exception(ErrorCode::kFileUnreadable, address, "it leads to an address that is not read; only http and https are");
  }
  const std::string certificate = scheme == "https" ? ", or its certificate is not one that this machine trusts" : "";
  throw Exception(ErrorCode::kFileUnreadable, address,
                  "the address cannot be reached" + certificate + " (" + ffmpegErrorText(opened) + ")");
}

NetworkBytes::~NetworkBytes() { avio_closep(&m_io); }

void NetworkBytes::endBy(int code) noexcept {
  if (m_watch.closed() || m_watch.finished() || code == 0 || code == AVERROR_EOF) {
    m_end = LiveEnd::kEndOfStream;
  } else if (m_watch.stalled()) {
    m_end = LiveEnd::kStalled;
  } else {
    m_end = LiveEnd::kEndOfStream;  // what came before is whole
    m_broke = true;
  }
}

int NetworkBytes::read(std::span<std::uint8_t> into) noexcept {
  if (m_end != LiveEnd::kNotYet || into.empty()) return 0;
  m_watch.begin();
  const int got = avio_read_partial(m_io, into.data(), static_cast<int>(std::min<std::size_t>(into.size(), 1 << 20)));
  if (got > 0) return got;
  endBy(got);
  return 0;
}

}  // namespace winnow::app
