// The tokens that end a model's answer.
//
// From generation_config.json; for models that do not say, and for those whose template is not the one of their files, also the
// end-of-turn tokens of the families' templates. Read once by engine/generation. Errors: Exception kDamagedFile if there are none.
// Threads: plain values.
#pragma once

#include <cstdint>
#include <set>

#include "engine/model_files/model_package.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// Whose template a model's turns are written by.
enum class TemplateFrom : int { kFiles = 1, kFamily = 2 };

// vocabulary: ids must be below it.
std::set<std::int64_t> read_end_tokens(const ModelPackage& package, const Tokenizer& tokenizer, std::int64_t vocabulary, TemplateFrom from);

}  // namespace winnow
