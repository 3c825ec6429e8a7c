// bench_media_process: what it costs to read a video in the media process instead of in the program, and what that process takes.
//
//   bench_media_process VIDEO [FRAMES [ROUNDS]]
//
// Both read the same plan eight frames at a time, as the engine does; in the order A-B-B-A, ROUNDS times. The goal is 3 % at 64 frames of
// 1920 x 1080. On a busy machine look at the processor time, of both processes together. Verified first: the frames are equal.
#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "app/media/files/media_opener.h"
#include "app/media/process/process_media_reader.h"
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

// Of this process, and of the one that reads media.
double processor_ms(pid_t reader) {
  timespec own{}, apart{};
  clockid_t clock{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  if (::clock_getcpuclockid(reader, &clock) == 0) ::clock_gettime(clock, &apart);
  return static_cast<double>(own.tv_sec + apart.tv_sec) * 1e3 + static_cast<double>(own.tv_nsec + apart.tv_nsec) / 1e6;
}

struct Cost {
  std::vector<double> elapsed_ms;
  std::vector<double> processor_ms;
};

void time_into(Cost& cost, const app::MediaReader& reader, const MediaRequest& request, pid_t apart) {
  const double before = processor_ms(apart);
  const Stopwatch watch;
  const auto source = reader.openSource(request, {});
  for (int at = 0; at < source->frame_count(); at += kAtATime) source->read(at, std::min(kAtATime, source->frame_count() - at), {});
  cost.elapsed_ms.push_back(watch.elapsed_ms());
  cost.processor_ms.push_back(processor_ms(apart) - before);
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
  MediaRequest request{.path = argv[1], .kind = MediaKind::kVideo, .plan = {.frame_count = argc > 2 ? std::atoi(argv[2]) : 64}};
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
  Cost in_program, in_process;
  const pid_t pid = apart.process().pid();
  for (int round = 0; round < rounds; ++round) {
    time_into(in_program, here, request, pid);
    time_into(in_process, apart, request, pid);
    time_into(in_process, apart, request, pid);
    time_into(in_program, here, request, pid);
  }
  print_memory(pid, "idle after reading");
  std::printf("%zu frames of %d x %d\n", frames.size(), frames.front().image.width_px, frames.front().image.height_px);
  const auto print = [](const char* what, const std::vector<double>& program_ms, const std::vector<double>& process_ms) {
    const double program = median(program_ms), process = median(process_ms);
    std::printf("%s: in the program %.0f ms, in the process %.0f ms, ratio %.3f\n", what, program, process, process / program);
  };
  print("elapsed", in_program.elapsed_ms, in_process.elapsed_ms);
  print("processor time", in_program.processor_ms, in_process.processor_ms);
  return 0;
}
