// bench_interrupt: milliseconds from Stop or Cancel to the end of the request, in every phase, on the demo model and a sample video.
//
//   bench_interrupt MODEL_FOLDER VIDEO [FRAMES]
//
// The interrupt is raised right when a unit of work begins (its progress event), so that what is measured includes the whole unit. The
// target is 200 ms (research: cancel latency).
#include <QCoreApplication>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "app/media/files/media_opener.h"
#include "engine/api/engine.h"
#include "engine/base/stopwatch.h"

namespace {

using namespace winnow;

// Raises the interrupt at the n-th progress event of a phase, or at the n-th text delta for Phase::kDecode.
class Trigger : public EventSink {
 public:
  Trigger(InterruptSource& source, Phase phase, int occurrence, Interrupt kind)
      : source_(source), phase_(phase), left_(occurrence), kind_(kind) {}

  void on_event(Event event) override {
    if (std::holds_alternative<Failed>(event.body)) std::fprintf(stderr, "failed: %s\n", std::get<Failed>(event.body).error.reason.c_str());
    const auto* progress = std::get_if<Progress>(&event.body);
    const bool unit =
        phase_ == Phase::kDecode ? std::holds_alternative<TextDelta>(event.body) : progress != nullptr && progress->phase == phase_;
    if (!unit || left_-- != 0) return;
    watch = Stopwatch();
    raised = true;
    if (kind_ == Interrupt::kStop) {
      source_.request_stop();
    } else {
      source_.request_cancel();
    }
  }

  Stopwatch watch;
  bool raised = false;

 private:
  InterruptSource& source_;
  Phase phase_;
  int left_;
  Interrupt kind_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_interrupt MODEL_FOLDER VIDEO [FRAMES]\n");
    return 2;
  }
  const QCoreApplication qt(argc, argv);
  app::FfmpegMediaOpener opener;
  const struct {
    Phase phase;
    const char* name;
  } phases[] = {{Phase::kLoadWeights, "loading weights"},  {Phase::kDecodeMedia, "decoding video"},
                {Phase::kEncodeFrames, "encoding frames"}, {Phase::kPrefill, "prefill"},
                {Phase::kCompress, "compressing"},         {Phase::kDecode, "answering"}};
  std::printf("%-16s %-7s %10s %10s   (ms from the request to the outcome, 10 runs)\n", "phase", "kind", "median", "largest");
  for (const auto& entry : phases) {
    for (const Interrupt kind : {Interrupt::kStop, Interrupt::kCancel}) {
      std::vector<double> times;
      for (int run = 0; run < 10; ++run) {
        // A fresh engine: features of the video must not be known.
        const std::unique_ptr<Engine> engine = make_engine(&opener);
        InterruptSource source;
        Trigger trigger(source, entry.phase, run % 3, kind);
        LoadModel load{.folder = argv[1]};
        engine->handle({1, load}, trigger, source.token());
        if (!trigger.raised) {
          Turn turn{.conversation = 1};
          MediaItem video;
          video.media.path = argv[2];
          video.media.kind = MediaKind::kVideo;
          video.media.plan.frame_count = argc > 3 ? std::atoi(argv[3]) : 64;
          turn.messages = {{Role::kUser, {video, TextItem{"Describe the video."}}}};
          engine->handle({2, turn}, trigger, source.token());
        }
        if (trigger.raised) times.push_back(trigger.watch.elapsed_ms());
      }
      if (times.empty()) continue;  // a phase with fewer units than asked for
      std::sort(times.begin(), times.end());
      std::printf("%-16s %-7s %10.1f %10.1f\n", entry.name, kind == Interrupt::kStop ? "stop" : "cancel", times[times.size() / 2],
                  times.back());
      std::fflush(stdout);
    }
  }
  return 0;
}
