// Chat template text to syntax tree: the Jinja subset that the templates of the model families use.
//
// Used by ChatTemplate. Nesting is bounded (64 levels of blocks and brackets, 128 of operators in a row), so neither the parser nor whoever
// walks the tree can be driven deep. Not part of the language: include, import, extends, block, call, recursive loops, *args.
// Errors: Exception; kUnsupportedModel (syntax, with its line), kLimitExceeded (size, depth).
#pragma once

#include <string_view>

#include "engine/text/template/template_ast.h"

namespace winnow::chat {

inline constexpr std::size_t kMaxTemplateBytes = std::size_t{64} * 1024;

Block parse_template(std::string_view source);

}  // namespace winnow::chat
