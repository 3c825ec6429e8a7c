// Threads that share the work of many short loops in a row, such as the hundred GEMVs of a decode step.
//
// Used by engine/layers instead of at::parallel_for. Its threads either sleep at once after a loop, and waking them takes longer than most
// of these loops, or spin for milliseconds and take cores from other programs and themselves. These spin for some tens of microseconds,
// then sleep, and stop spinning while that does not pay. Pieces are taken, not assigned: running threads do the work, and only a piece that
// has begun is waited for, never a thread that lost its core.
//
// The team has at::get_num_threads() threads, the caller included; made at first use, kept until the process ends. One loop at a time: a
// loop that another thread or a piece begins meanwhile runs on its own thread alone. Never allocates once the threads exist.
#pragma once

#include <cstdint>
#include <type_traits>

namespace winnow {

namespace team {
using Body = void (*)(const void* context, std::int64_t begin, std::int64_t end);
void share(std::int64_t count, std::int64_t grain, Body body, const void* context);
}  // namespace team

// Calls body(begin, end) for pieces that cover [0, count), at most ceil(count / grain) of them, in any order, on any of the threads. An
// exception of a piece is rethrown here after the others have ended (one of them, if several throw).
template <class Function>
void share_work(std::int64_t count, std::int64_t grain, const Function& body) {
  team::share(
      count, grain, [](const void* context, std::int64_t begin, std::int64_t end) { (*static_cast<const Function*>(context))(begin, end); },
      &body);
}

}  // namespace winnow
