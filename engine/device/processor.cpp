#include "engine/device/processor.h"

#include <ATen/Parallel.h>

#include <cstdlib>

namespace winnow {

int threads_for(int cores) { return cores < 4 ? cores : cores - 1; }

void set_default_threads() {
  static const bool once = [] {
    if (std::getenv("OMP_NUM_THREADS") != nullptr || std::getenv("MKL_NUM_THREADS") != nullptr) return true;
    const int cores = at::get_num_threads();  // libtorch's own number is that of the physical cores
    if (threads_for(cores) != cores) at::set_num_threads(threads_for(cores));
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace winnow
