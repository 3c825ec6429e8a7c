// Threads that share the pieces of one short loop after the other, as the hundred products of a decode step are.
//
// Used by engine/layers where at::parallel_for was: its threads either sleep at once when a loop ends, and waking them takes longer than
// most of these loops, or spin for milliseconds, and keep a busy machine's other programs and themselves from running. These spin for
// some tens of microseconds, then sleep, and stop spinning while that has not paid. Nobody waits for a thread that has lost its core:
// pieces are taken, not given, so that whoever runs does the work, and only a piece that was begun is waited for.
//
// As many threads as at::get_num_threads() says, the caller among them; made at first use, kept until the process ends. One loop at a time:
// a loop begun by another thread meanwhile, or by a piece of a loop, runs on its own thread alone. Never allocates once the threads are
// there.
#pragma once

#include <cstdint>
#include <type_traits>

namespace winnow {

namespace team {
using Body = void (*)(const void* context, std::int64_t begin, std::int64_t end);
void share(std::int64_t count, std::int64_t grain, Body body, const void* context);
}  // namespace team

// Calls body(begin, end) for pieces that cover [0, count), at most one for every `grain` that is begun; in any order, on any of the
// threads. What a piece throws is thrown again here after the others have ended (one of them, if several do).
template <class Function>
void share_work(std::int64_t count, std::int64_t grain, const Function& body) {
  team::share(
      count, grain, [](const void* context, std::int64_t begin, std::int64_t end) { (*static_cast<const Function*>(context))(begin, end); },
      &body);
}

}  // namespace winnow
