#include "engine/model_files/model_package.h"

#include "engine/base/error.h"

namespace winnow {

const ModelDocument& ModelPackage::required(ModelPart part) const {
  if (const ModelDocument* found = document(part)) return *found;
  throw Exception(ErrorCode::kFileNotFound, subject(part), "does not exist");
}

}  // namespace winnow
