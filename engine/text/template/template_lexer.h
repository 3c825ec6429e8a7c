// Cuts a chat template into text and tokens, white space control included (trim_blocks and lstrip_blocks on, as transformers sets them).
//
// Used by the template parser. Errors: Exception kUnsupportedModel with the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::chat {

struct Token {
  enum class Kind { kText, kOutputBegin, kOutputEnd, kBlockBegin, kBlockEnd, kName, kString, kInteger, kFloat, kOperator, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  // of strings: unescaped
  int line = 0;
};

std::vector<Token> tokenize_template(std::string_view source);

[[noreturn]] void throw_template_error(int line, const std::string& reason);

}  // namespace winnow::chat
