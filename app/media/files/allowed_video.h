// The formats that may be opened as a video, in one place: demuxers, decoders, and the limits that FFmpeg is given before it sees a byte.
//
// Used by VideoContainer (files) and by app/media/files/live (streams, cameras, screens). A format context that was restricted opens
// nothing by itself: no other file, no network, no device. Errors: kUnsupportedFormat (codec outside the list, no video, encrypted),
// kDamagedFile, kLimitExceeded. `subject` names the source in errors. Threads: one at a time for each context.
#pragma once

#include <string>

#include "app/media/files/av_handles.h"
#include "app/media/files/content_type.h"
#include "app/media/files/limits.h"

namespace winnow::app {

// Options for avformat_open_input, which takes out those it knows.
class AvOptions {
 public:
  AvOptions() = default;
  ~AvOptions() { av_dict_free(&m_options); }
  AvOptions(const AvOptions&) = delete;
  AvOptions& operator=(const AvOptions&) = delete;
  void set(const char* name, const std::string& value) { av_dict_set(&m_options, name, value.c_str(), 0); }
  AVDictionary** get() { return &m_options; }

 private:
  AVDictionary* m_options = nullptr;
};

// The one demuxer of a kind of video; require()s that this build of FFmpeg has it.
const AVInputFormat& videoDemuxer(ContentType type);

// The decoders that pictures may be decoded by: names, parted by commas.
std::string videoDecoders();

// Limits, and what the context may never do.
void restrictFormat(AVFormatContext& format, const MediaLimits& limits);
// Only `demuxer` and these decoders, names parted by commas.
void restrictOptions(AvOptions& options, const AVInputFormat& demuxer, const std::string& decoders = videoDecoders());
// A demuxer that avformat_open_input refused with `code`.
[[noreturn]] void throwNotOpened(int code, const MediaLimits& limits, const std::string& subject);

// Unpacked pictures come from cameras and screens only.
enum class RawPictures : int { kRefused = 1, kAllowed };

struct ChosenVideo {
  AVStream* stream = nullptr;
  const AVCodec* decoder = nullptr;
};
// The video stream marked as default, else the first; a cover picture is no video. The others are discarded.
ChosenVideo chooseVideo(AVFormatContext& format, const MediaLimits& limits, const std::string& subject, RawPictures raw);
// By what `stream` may be decoded; its size is not looked at.
const AVCodec* allowedDecoder(const AVStream& stream, const std::string& subject, RawPictures raw);

// FFmpeg's own threads. type: FF_THREAD_SLICE gives every picture at once, FF_THREAD_FRAME keeps one back for each thread but the first.
struct DecoderThreads {
  int count = 1;
  int type = 0;
};
AvDecoder openVideoDecoder(const ChosenVideo& video, const MediaLimits& limits, const std::string& subject, DecoderThreads threads);

// True for a stream that says it is encrypted; requirePlain() throws kUnsupportedFormat for such a packet.
bool isEncrypted(const AVStream& stream);
void requirePlain(const AVPacket& packet, const std::string& subject);

}  // namespace winnow::app
