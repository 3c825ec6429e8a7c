// Runs a chat template's syntax tree under limits.
//
// Used by ChatTemplate. There is no way out of the language: no files, no attributes of host objects, nothing that changes a value but a
// namespace. One Interpreter renders once.
// Errors: Exception; kLimitExceeded (a limit below), kInvalidArgument (the template called raise_exception), kUnsupportedModel (anything
// that the template does wrong: an undefined value used, a filter that is not known, a type that does not fit).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/template/template_ast.h"

namespace winnow::chat {

struct RenderLimits {
  std::int64_t steps = 100'000;                     // expressions and statements
  std::size_t output_bytes = std::size_t{8} << 20;  // of the result and of every text on the way
  std::size_t work_bytes = std::size_t{256} << 20;  // of all texts together
  std::chrono::milliseconds time{200};              // of work, not of the clock
  int recursion = 256;                              // of the tree and of macro calls together
};

class Interpreter {
 public:
  Interpreter(std::vector<std::pair<std::string, Value>> variables, const RenderLimits& limits);

  Text run(const Block& block);

 private:
  enum class Flow { kNext, kBreak, kContinue };
  struct Scope {
    Scope* parent = nullptr;
    std::vector<std::pair<std::string, Value>> variables{};
  };
  struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
    const Value* find(std::size_t position, std::string_view name) const;
  };
  // One level of recursion, of the tree or of calls.
  class Depth {
   public:
    explicit Depth(Interpreter& interpreter);
    ~Depth() { --interpreter_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Interpreter& interpreter_;
  };

  // Statements.
  Flow execute(const Block& block);
  Flow execute(const Statement& statement);
  Flow execute_for(const Statement& statement);
  void execute_set(const Statement& statement);
  Text capture(const Block& block);
  void assign(const std::vector<std::string>& targets, const Value& value);
  Value loop_value(const std::vector<Value>& items, std::size_t i);

  // Expressions.
  Value evaluate(const Expression& e);
  Value evaluate_binary(const Expression& e);
  bool evaluate_compare(const Expression& e);
  Value attribute(const Value& object, const std::string& name);
  Value item(const Value& object, const Value& key);
  Value slice(const Value& object, const Value& from, const Value& to, const Value& step);
  Value call(const Value& callee, const Arguments& arguments);
  Value call_macro(const Macro& macro, const Arguments& arguments);
  Arguments evaluate_arguments(const Expression& e);
  Value lookup(const std::string& name);

  // The library (template_builtins.cpp).
  Value call_function(const std::string& name, const Arguments& arguments);
  Value call_method(const Value& self, const std::string& name, const Arguments& arguments);
  Value call_text_method(const Text& self, const std::string& name, const Arguments& arguments);
  Text format(const Text& self, const Arguments& arguments);
  Value apply_filter(const std::string& name, const Value& value, const Arguments& arguments);
  bool apply_test(const std::string& name, const Value& value, const Arguments& arguments);
  Value select(const std::string& filter, const Value& value, const Arguments& arguments);
  Value map(const Value& value, const Arguments& arguments);
  Value sorted_items(const Value& value, const Arguments& arguments);
  Value attribute_path(const Value& object, const std::string& path);
  std::vector<Value> items_of(const Value& value);
  bool contains(const Value& container, const Value& value);
  bool equal(const Value& a, const Value& b);
  int compare(const Value& a, const Value& b);
  Text to_text(const Value& value);
  void write_repr(const Value& value, Text& out);
  void write_json(const Value& value, std::int64_t indent, int level, Text& out);
  const Text& text_argument(const Arguments& arguments, std::size_t position, std::string_view name);
  std::int64_t integer_argument(const Arguments& arguments, std::size_t position, std::string_view name, std::int64_t fallback);

  // Limits.
  void step(std::int64_t count = 1);
  void charge(std::size_t bytes);
  Value make_text(Text text);
  [[noreturn]] void fail(const std::string& reason) const;

  RenderLimits limits_;
  std::chrono::nanoseconds end_;
  std::int64_t steps_ = 0;
  std::size_t bytes_ = 0;
  int depth_ = 0;
  int line_ = 0;
  Scope root_;
  Scope* scope_ = &root_;
  Text* out_ = nullptr;
  std::vector<std::unique_ptr<Namespace>> namespaces_;  // owned here: a namespace may hold itself
};

}  // namespace winnow::chat
