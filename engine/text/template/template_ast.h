// The syntax tree of a chat template. Made by the parser, which bounds its depth; read by the interpreter.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/template/template_value.h"

namespace winnow::chat {

struct Expression;
using ExpressionPointer = std::unique_ptr<Expression>;

struct Argument {
  std::string name{};  // empty: by position
  ExpressionPointer value;
};

struct Expression {
  enum class Kind {
    kLiteral,      // value
    kName,         // name
    kList,         // children
    kDict,         // children: key, value, key, value ...
    kAttribute,    // children[0].name
    kIndex,        // children[0][children[1]]
    kSlice,        // children[0][children[1] : children[2] : children[3]]; null where left out
    kCall,         // children[0](arguments)
    kFilter,       // children[0] | name(arguments); children[0] is null in a filter block
    kTest,         // children[0] is name(arguments)
    kUnary,        // name: "not", "-", "+"
    kBinary,       // name: the operator, "and" and "or" included
    kCompare,      // children[0] names[0] children[1] names[1] children[2] ...
    kConditional,  // children: value, condition, otherwise (may be null)
  };
  Kind kind = Kind::kLiteral;
  std::string name;
  std::vector<std::string> names;
  Value value;
  std::vector<ExpressionPointer> children;
  std::vector<Argument> arguments;
  int depth = 1;
  int line = 0;
};

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

struct Macro {
  std::string name;
  std::vector<std::pair<std::string, ExpressionPointer>> parameters;  // with defaults, null for none
  Block body;
};

struct Statement {
  enum class Kind { kText, kOutput, kIf, kFor, kSet, kSetBlock, kMacro, kFilterBlock, kBreak, kContinue, kGroup };
  Kind kind = Kind::kText;
  Value text;                                                 // kText
  ExpressionPointer expression;                               // kOutput, kSet: value; kFor: iterable; kFilterBlock: the filters
  std::vector<std::pair<ExpressionPointer, Block>> branches;  // kIf; the condition of else is null
  std::vector<std::string> targets;                           // kFor, kSet, kSetBlock: names
  std::string attribute;                                      // kSet on a namespace: targets[0].attribute
  ExpressionPointer filter;                                   // kFor: the condition after `if`; may be null
  Block body;
  Block otherwise;  // kFor
  Macro macro;
  int line = 0;
};

}  // namespace winnow::chat
