#include <torch/headeronly/version.h>

#include "engine/api/engine.h"

namespace winnow {

std::string libtorch_version() { return TORCH_VERSION; }

}  // namespace winnow
