#include "engine/models/qwen3_5/qwen3_5.h"

#include "engine/models/qwen3_5/qwen3_5_config.h"
#include "engine/models/qwen3_vl/qwen3_vl.h"

namespace winnow {

std::unique_ptr<VisionLanguageModel> load_qwen3_5(ModelLoad& load) { return load_qwen3_vl_of(load, read_qwen3_5(load.package())); }

}  // namespace winnow
