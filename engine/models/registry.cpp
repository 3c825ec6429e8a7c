#include "engine/models/registry.h"

#include "engine/base/error.h"
#include "engine/device/own_mappings.h"
#include "engine/models/family_rows.h"
#include "engine/models/model_load.h"

namespace winnow {

std::unique_ptr<VisionLanguageModel> load_model(const ModelSource& source) {
  const std::optional<at::ScalarType>& type = source.plan.arithmetic;
  const bool half = type == at::kHalf;
  if (type && *type != at::kFloat && *type != at::kBFloat16 && !(half && !source.device.is_cpu())) {
    throw Exception(ErrorCode::kInvalidArgument, source.package->path(), "models run in fp32 or bf16, on a GPU also in fp16");
  }
  const FamilyRow& family = kFamilies[required_family(source.package->required(ModelPart::kConfig).root(), source.package->path())];
  const OwnMappings mappings;
  ModelLoad load(source);
  load.info.family = family.model_type;
  std::unique_ptr<VisionLanguageModel> model = family.load(load);
  model->set_info(load.described(model->text()));
  return model;
}

}  // namespace winnow
