// The sound of a file as SoundSource has it: any codec of the list, mixed to mono and brought to 16 kHz by FFmpeg's libswresample.
//
// Opens videos and files of sound alone (WAV, FLAC, MP3, AAC, Ogg, M4A, Matroska and the containers of videos), by content, each with one
// named demuxer. Of several tracks the one marked as default, else the first. A track's place in its file is kept: silence stands before it
// and in its gaps; stamps that jump go on from where they were (live/stream_clock.h). Errors: kUnsupportedFormat (no sound, codec outside
// the list, encrypted), kDamagedFile, kLimitExceeded, Interrupted. Threads: one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/media/files/decode_watch.h"
#include "app/media/files/live/stream_clock.h"
#include "app/media/files/media_container.h"
#include "engine/media/sound_source.h"

struct SwrContext;

namespace winnow::app {

// True for a file of sound that is no video's container: WAV, FLAC, MP3, AAC.
bool isSoundAlone(const MediaFile& file);
// True if one of an opened file's tracks is sound of a codec that is read. Nothing is decoded.
bool holdsSound(const AVFormatContext& format);

class SoundFile final : public SoundSource {
 public:
  SoundFile(std::unique_ptr<MediaFile> file, const MediaLimits& limits, const InterruptToken& interrupt);
  ~SoundFile() override;

  double duration_s() const override { return m_durationS; }
  std::string content_hash() const override;
  std::vector<float> read(std::int64_t count, const InterruptToken& interrupt) override;
  void rewind() override;

 private:
  class Track;
  struct FreeResampler {
    void operator()(SwrContext* context) const;
  };
  void open();
  // More samples behind the ready ones; false at the end.
  bool decodeMore();
  void take(const AVFrame& frame);
  void resample(const AVFrame* frame);
  void prepareFor(const AVFrame& frame);

  const std::unique_ptr<MediaFile> m_file;
  const MediaLimits m_limits;
  DecodeWatch m_watch;
  std::unique_ptr<Track> m_track;
  AvDecoder m_decoder;
  std::unique_ptr<SwrContext, FreeResampler> m_resampler;
  AvFrame m_last;  // the shape of sound that the resampler is for
  std::optional<StreamClock> m_clock;
  std::vector<float> m_ready;
  std::int64_t m_made = 0;  // samples from the file's beginning on, the ready ones included
  bool m_ended = false;
  double m_durationS = 0.0;
};

}  // namespace winnow::app
