#include "engine/api/model_summary.h"

#include <memory>

#include "engine/model_files/open_package.h"
#include "engine/models/generation_defaults.h"

namespace winnow {

namespace {
constexpr std::size_t kNameBytes = 256;
}

ModelSummary summary_of_model(const std::string& path) {
  const std::unique_ptr<ModelPackage> package = open_package(path);
  ModelSummary summary;
  summary.path = path;
  summary.name = package->name();
  summary.type = package->required(ModelPart::kConfig).root().string("model_type", kNameBytes, "");
  summary.recommended = read_recommended_sampling(*package);
  summary.weight_bytes = package->tensors().total_bytes();
  return summary;
}

}  // namespace winnow
