#include "app/programs/bootstrap/live_clips.h"

#include <memory>
#include <utility>

#include "app/media/files/live/live_source.h"

namespace winnow::app {
namespace {

constexpr double kStallS = 15.0;  // without a byte; a sender that pauses for longer has gone

LiveKind kindOf(const WatchRequest& request) {
  switch (request.kind) {
    case WatchRequest::Kind::kCamera: return LiveKind::kCamera;
    case WatchRequest::Kind::kScreen: return LiveKind::kScreen;
    case WatchRequest::Kind::kNetwork: return LiveKind::kNetwork;
    case WatchRequest::Kind::kFile: break;
  }
  // A name is a file or a named pipe; what it is decides.
  return parseLiveAddress(request.address) == LiveKind::kPipe ? LiveKind::kPipe : LiveKind::kGrowingFile;
}

const char* wordsFor(LiveEnd end) {
  switch (end) {
    case LiveEnd::kStalled: return "the source has sent nothing for a while";
    case LiveEnd::kDamaged: return "the source cannot be read any further";
    default: return "";
  }
}

class LiveClips final : public ClipReader {
 public:
  explicit LiveClips(const WatchRequest& request) : m_source({kindOf(request), request.address, request.everyS, kStallS}) {}

  Clip next(int most, const InterruptToken& interrupt) override {
    LiveClip clip = m_source.next(most, interrupt);
    if (interrupt.state() == Interrupt::kCancel) throw Interrupted(Interrupt::kCancel);
    return {std::move(clip.frames), clip.ended() && clip.end != LiveEnd::kInterrupted, wordsFor(clip.end), std::move(clip.notices)};
  }

 private:
  LiveSource m_source;
};

}  // namespace

ClipReaderFactory liveClips() {
  return [](const WatchRequest& request, const InterruptToken&) -> std::unique_ptr<ClipReader> {
    return std::make_unique<LiveClips>(request);
  };
}

}  // namespace winnow::app
