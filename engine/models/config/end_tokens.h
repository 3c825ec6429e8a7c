// The tokens that end a model's answer.
//
// generation_config.json names them; where it does not, config.json does, as in transformers' generate(), and so do the marks that the chat
// template writes behind a turn. The tokenizer's own end (eos_token) always ends an answer: fine-tunes change it and forget the rest. Read
// once by engine/generation. Errors: Exception; kDamagedFile if there are none, kLimitExceeded for an id beyond the vocabulary. Threads:
// plain values.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "engine/model_files/model_package.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// Whose template a model's turns are written by.
enum class TemplateFrom : int { kFiles = 1, kFamily = 2 };

struct TurnTemplate {
  std::string_view source;
  std::string_view eos;  // text of the tokenizer's end token; may be empty
  TemplateFrom from = TemplateFrom::kFiles;
};

// eos_token_id of generation_config.json, else of config.json, else of the text model in it. May be empty.
std::vector<std::int64_t> configured_end_tokens(const ModelPackage& package, std::int64_t vocabulary);

// vocabulary: ids must be below it.
std::set<std::int64_t> read_end_tokens(const ModelPackage& package, const Tokenizer& tokenizer, std::int64_t vocabulary,
                                       const TurnTemplate& turns);

}  // namespace winnow
