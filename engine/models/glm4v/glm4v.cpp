#include "engine/models/glm4v/glm4v.h"

#include "engine/models/glm4v/glm4v_config.h"
#include "engine/models/qwen3_vl/qwen3_vl.h"

namespace winnow {

std::unique_ptr<VisionLanguageModel> load_glm4v(ModelLoad& load) { return load_qwen3_vl_of(load, read_glm4v(load.package())); }

}  // namespace winnow
