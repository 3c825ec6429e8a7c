// Images and videos whose frames are decoded in the media process. Made by ProcessMediaReader.
//
// Holds the descriptors of its files, so that it can be opened again in another process where the first died of another file: the same
// bytes, the same frames. One that its process died of is refused from then on. Errors: those of the source in the process; kMediaCrashed;
// kDamagedFile where the file has changed under it; after Interrupted it can be read again. Threads: one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/media/files/media_source.h"
#include "app/media/process/given_files.h"
#include "app/media/process/media_process.h"

namespace winnow::app {

class ProcessMediaSource final : public MediaSource {
 public:
  // file: of request.path.
  ProcessMediaSource(std::shared_ptr<MediaProcess> process, MediaRequest request, OpenedMedia file, const InterruptToken& interrupt);
  ~ProcessMediaSource() override;

  MediaKind kind() const override { return m_request.kind; }
  double duration_s() const override { return m_opened.durationS; }
  int frame_count() const override { return static_cast<int>(m_opened.askedS.size()); }
  std::string content_hash() const override;
  std::vector<TimedLine> lines() const override { return m_opened.lines; }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_opened.info; }
  const std::vector<double>& askedTimes() const override { return m_opened.askedS; }
  std::vector<double> shown_times_s() const override { return m_opened.shownS; }
  std::vector<double> standing_until_s() const override { return m_opened.untilS; }
  std::vector<MediaNotice> notices() const override;

 private:
  SourceOpened openIn(MediaProcess::Start& start, const InterruptToken& interrupt) const;
  void openAgain(const InterruptToken& interrupt);
  // Reads as many frames as fit into one answer.
  std::vector<SampledFrame> readPart(int first, int count, const InterruptToken& interrupt);

  const std::shared_ptr<MediaProcess> m_process;  // shared: it outlives its reader while a source is open
  const MediaRequest m_request;
  const OpenedMedia m_file;
  GivenFiles m_files;
  const std::uint64_t m_number;
  MediaProcess::Start m_start = MediaProcess::kAnyProcess;  // where it is open
  SourceOpened m_opened;                                    // its notices: of all that was read there
  std::vector<MediaNotice> m_noticedBefore;                 // in processes that died
  std::optional<Error> m_refused;
  mutable std::string m_hash;
};

}  // namespace winnow::app
