// A file opened with FFmpeg over our own reader: one named demuxer, no other file, no network, no device.
//
// The base of VideoContainer and of sound_file.h. Owns the demuxer; the file and the watch are borrowed and must outlive it. Errors:
// kDamagedFile, kLimitExceeded, kOutOfMemory, Interrupted. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "app/media/files/av_handles.h"
#include "app/media/files/decode_watch.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"

namespace winnow::app {

// The demuxer and decoders that FFmpeg may use on a file.
struct AllowedReaders {
  const AVInputFormat& demuxer;
  std::string decoders;  // that may look at its streams: names, parted by commas
};

class MediaContainer {
 public:
  // ownBytes: of the file, from its beginning on, that belong to this medium (container_extent.h); nothing behind them is read.
  MediaContainer(const MediaFile& file, const AllowedReaders& readers, std::int64_t ownBytes, const MediaLimits& limits,
                 const DecodeWatch& watch);
  ~MediaContainer() { close(); }
  MediaContainer(const MediaContainer&) = delete;
  MediaContainer& operator=(const MediaContainer&) = delete;

  const std::string& path() const { return m_file.path(); }
  AVFormatContext& format() { return *m_format; }
  const AVFormatContext& format() const { return *m_format; }

 protected:
  const DecodeWatch& watch() const { return m_watch; }
  // Next packet of any stream; false at the end of what can be read. Throws Interrupted or kLimitExceeded.
  bool readAny(AVPacket& packet);

 private:
  static int readCallback(void* self, std::uint8_t* buffer, int bytes);
  static std::int64_t seekCallback(void* self, std::int64_t offset, int whence);
  void close() noexcept;

  const MediaFile& m_file;
  const std::int64_t m_ownBytes;
  const DecodeWatch& m_watch;
  std::int64_t m_position = 0;
  AVIOContext* m_io = nullptr;
  AVFormatContext* m_format = nullptr;
};

}  // namespace winnow::app
