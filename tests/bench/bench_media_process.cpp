// bench_media_process: what it costs to read a video in the media process instead of in the program, and what that process takes.
//
//   bench_media_process VIDEO [FRAMES [ROUNDS]]
//
// Both read the same plan eight frames at a time, as the engine does; in the order A-B-B-A, ROUNDS times. The goal is 3 % at 64 frames of
// 1920 x 1080. Verified first: the frames are equal.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "app/media/media_opener.h"
#include "app/media_process/process_media_reader.h"
#include "engine/base/stopwatch.h"

namespace {

using namespace winnow;

constexpr int kAtATime = 8;

std::vector<SampledFrame> read_all(const app::MediaReader& reader, const MediaRequest& request) {
  const auto source = reader.openSource(request, {});
  std::vector<SampledFrame> all;
  for (int at = 0; at < source->frame_count(); at += kAtATime) {
    auto part = source->read(at, std::min(kAtATime, source->frame_count() - at), {});
    std::ranges::move(part, std::back_inserter(all));
  }
  return all;
}

double timed(const app::MediaReader& reader, const MediaRequest& request) {
  const Stopwatch watch;
  const auto source = reader.openSource(request, {});
  for (int at = 0; at < source->frame_count(); at += kAtATime) source->read(at, std::min(kAtATime, source->frame_count() - at), {});
  return watch.elapsed_ms();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void print_memory(pid_t pid, const char* when) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::string line;
  std::printf("%s:", when);
  while (std::getline(status, line)) {
    if (line.starts_with("Rss:") || line.starts_with("Pss:") || line.starts_with("Private_Dirty:"))
      std::printf("  %s %ld MiB", line.substr(0, line.find(':')).c_str(), std::atol(line.substr(line.find(':') + 1).c_str()) / 1024);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_media_process VIDEO [FRAMES [ROUNDS]]\n");
    return 2;
  }
  MediaRequest request;
  request.path = argv[1];
  request.kind = MediaKind::kVideo;
  request.plan.frame_count = argc > 2 ? std::atoi(argv[2]) : 64;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  const app::FfmpegMediaOpener here;
  const app::ProcessMediaReader apart;
  const Stopwatch start;
  apart.process().sandbox();
  std::printf("start of the process: %.0f ms\n", start.elapsed_ms());
  print_memory(apart.process().pid(), "idle before the first file");
  const auto expected = read_all(here, request);
  const auto frames = read_all(apart, request);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (frames.size() == expected.size() && frames[i].image.rgb == expected[i].image.rgb) continue;
    std::fprintf(stderr, "frame %zu differs\n", i);
    return 1;
  }
  std::vector<double> in_program, in_process;
  for (int round = 0; round < rounds; ++round) {
    in_program.push_back(timed(here, request));
    in_process.push_back(timed(apart, request));
    in_process.push_back(timed(apart, request));
    in_program.push_back(timed(here, request));
  }
  print_memory(apart.process().pid(), "idle after reading");
  std::printf("%zu frames of %d x %d: in the program %.0f ms, in the process %.0f ms, ratio %.3f\n", frames.size(),
              frames.front().image.width_px, frames.front().image.height_px, median(in_program), median(in_process),
              median(in_process) / median(in_program));
  return 0;
}
