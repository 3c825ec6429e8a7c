#include "engine/model_files/model_package.h"

#include "engine/base/error.h"

namespace winnow {

const ModelDocument& ModelPackage::required(ModelPart part) const {
  if (const ModelDocument* found = document(part)) return *found;
  throw Exception(ErrorCode::kFileNotFound, subject(part), "does not exist");
}

std::shared_ptr<const Tokenizer> ModelPackage::shared_tokenizer() const {
  if (!shared_tokenizer_) shared_tokenizer_ = Tokenizer::from(tokenizer());
  return shared_tokenizer_;
}

}  // namespace winnow
