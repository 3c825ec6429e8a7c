#include "engine/text/template/template_interpreter.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/base/error.h"
#include "engine/text/template/template_text.h"
#include "engine/text/text_bounds.h"

namespace winnow::chat {

Interpreter::Depth::Depth(Interpreter& interpreter) : interpreter_(interpreter) {
  if (++interpreter_.depth_ > interpreter_.limits_.recursion) {
    --interpreter_.depth_;  // the destructor does not run
    throw Exception(ErrorCode::kLimitExceeded, "chat template", "calls or nests too deeply");
  }
}

Interpreter::Interpreter(std::vector<std::pair<std::string, Value>> variables, const RenderLimits& limits)
    : limits_(limits), end_(thread_work_time() + limits.time) {
  root_.variables = std::move(variables);
}

Text Interpreter::run(const Block& block) { return capture(block); }

void Interpreter::step(std::int64_t count) {
  const std::int64_t before = steps_;
  steps_ += count;
  if (steps_ > limits_.steps) throw Exception(ErrorCode::kLimitExceeded, "chat template", "takes too many steps");
  if (before / 256 != steps_ / 256 && thread_work_time() > end_) {
    throw Exception(ErrorCode::kLimitExceeded, "chat template", "takes too long");
  }
}

void Interpreter::charge(std::size_t bytes) {
  if (bytes > limits_.output_bytes) throw Exception(ErrorCode::kLimitExceeded, "chat template", "writes more than 8 MiB");
  bytes_ += bytes;
  if (bytes_ > limits_.work_bytes) throw Exception(ErrorCode::kLimitExceeded, "chat template", "works through too much text");
  if (bytes > 65536 && thread_work_time() > end_) {
    throw Exception(ErrorCode::kLimitExceeded, "chat template", "takes too long");
  }
}

Value Interpreter::make_text(Text text) {
  charge(text.size());
  return Value::text(std::move(text));
}

void Interpreter::fail(const std::string& reason) const {
  throw Exception(ErrorCode::kUnsupportedModel, "chat template", "line " + std::to_string(line_) + ": " + reason);
}

// Statements.

Text Interpreter::capture(const Block& block) {
  Text text;
  Text* const outer = std::exchange(out_, &text);
  execute(block);
  out_ = outer;
  return text;
}

Interpreter::Flow Interpreter::execute(const Block& block) {
  for (const auto& statement : block) {
    const Flow flow = execute(*statement);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::execute(const Statement& s) {
  const Depth depth(*this);
  step();
  line_ = s.line;
  const auto write = [&](const Text& text) {
    charge(text.size());
    if (text.size() > limits_.output_bytes - out_->size()) {
      throw Exception(ErrorCode::kLimitExceeded, "chat template", "writes more than 8 MiB");
    }
    out_->append(text);
  };
  switch (s.kind) {
    case Statement::Kind::kText: write(*s.text.text()); return Flow::kNext;
    case Statement::Kind::kOutput: write(to_text(evaluate(*s.expression))); return Flow::kNext;
    case Statement::Kind::kIf:
      for (const auto& [condition, body] : s.branches) {
        if (condition == nullptr || evaluate(*condition).truthy()) return execute(body);
      }
      return Flow::kNext;
    case Statement::Kind::kFor: return execute_for(s);
    case Statement::Kind::kSet:
    case Statement::Kind::kSetBlock: execute_set(s); return Flow::kNext;
    case Statement::Kind::kMacro: assign({s.macro.name}, Value::Data(&s.macro)); return Flow::kNext;
    case Statement::Kind::kFilterBlock: {
      Value value = make_text(capture(s.body));
      std::vector<const Expression*> chain;
      for (const Expression* e = s.expression.get(); e != nullptr; e = e->children.front().get()) chain.push_back(e);
      for (auto e = chain.rbegin(); e != chain.rend(); ++e) value = apply_filter((*e)->name, value, evaluate_arguments(**e));
      write(to_text(value));
      return Flow::kNext;
    }
    case Statement::Kind::kBreak: return Flow::kBreak;
    case Statement::Kind::kContinue: return Flow::kContinue;
    case Statement::Kind::kGroup: return execute(s.body);
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::execute_for(const Statement& s) {
  std::vector<Value> items = items_of(evaluate(*s.expression));
  Scope* const outer = scope_;
  Scope inner{.parent = outer};
  // The scope is left however the loop ends, errors apart: they end the whole rendering.
  scope_ = &inner;
  if (s.filter) {
    std::vector<Value> kept;
    for (const Value& item : items) {
      step();
      inner.variables.clear();
      assign(s.targets, item);
      if (evaluate(*s.filter).truthy()) kept.push_back(item);
    }
    items = std::move(kept);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    step();
    inner.variables.clear();
    assign(s.targets, items[i]);
    assign({"loop"}, loop_value(items, i));
    if (execute(s.body) == Flow::kBreak) break;
  }
  scope_ = outer;
  if (items.empty()) return execute(s.otherwise);
  return Flow::kNext;
}

Value Interpreter::loop_value(const std::vector<Value>& items, std::size_t i) {
  const auto count = static_cast<std::int64_t>(items.size());
  const auto index = static_cast<std::int64_t>(i);
  std::vector<std::pair<Value, Value>> fields;
  const auto field = [&](std::string_view name, Value value) { fields.emplace_back(Value::literal(name), std::move(value)); };
  field("index", Value::integer(index + 1));
  field("index0", Value::integer(index));
  field("revindex", Value::integer(count - index));
  field("revindex0", Value::integer(count - index - 1));
  field("first", Value::boolean(i == 0));
  field("last", Value::boolean(i + 1 == items.size()));
  field("length", Value::integer(count));
  field("previtem", i > 0 ? items[i - 1] : Value::undefined("loop.previtem"));
  field("nextitem", i + 1 < items.size() ? items[i + 1] : Value::undefined("loop.nextitem"));
  field("cycle", Value::Data(Callable{"loop.cycle", std::make_shared<const Value>(Value::integer(index))}));
  return make_dict(std::move(fields));
}

void Interpreter::assign(const std::vector<std::string>& targets, const Value& value) {
  if (targets.size() > 1) {
    const std::vector<Value> parts = items_of(value);
    if (parts.size() != targets.size()) fail("a value does not have as many parts as there are names");
    for (std::size_t i = 0; i < parts.size(); ++i) assign({targets[i]}, parts[i]);
    return;
  }
  for (auto& [name, old] : scope_->variables) {
    if (name == targets.front()) {
      old = value;
      return;
    }
  }
  scope_->variables.emplace_back(targets.front(), value);
}

void Interpreter::execute_set(const Statement& s) {
  Value value;
  if (s.kind == Statement::Kind::kSet) {
    value = evaluate(*s.expression);
  } else {
    value = make_text(capture(s.body));
    std::vector<const Expression*> chain;
    for (const Expression* e = s.expression.get(); e != nullptr; e = e->children.front().get()) chain.push_back(e);
    for (auto e = chain.rbegin(); e != chain.rend(); ++e) value = apply_filter((*e)->name, value, evaluate_arguments(**e));
  }
  if (s.attribute.empty()) {
    assign(s.targets, value);
    return;
  }
  const Value target = lookup(s.targets.front());
  Namespace* const* space = target.get<Namespace*>();
  if (space == nullptr) fail("only a namespace's attributes can be set");
  for (auto& [name, old] : (*space)->items) {
    if (name == s.attribute) {
      old = std::move(value);
      return;
    }
  }
  (*space)->items.emplace_back(s.attribute, std::move(value));
}

// Expressions.

Value Interpreter::lookup(const std::string& name) {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    for (const auto& [known, value] : scope->variables) {
      if (known == name) return value;
    }
  }
  for (const char* function : {"range", "namespace", "raise_exception", "dict"}) {
    if (name == function) return Value::Data(Callable{name, nullptr});
  }
  return Value::undefined(name);
}

Interpreter::Arguments Interpreter::evaluate_arguments(const Expression& e) {
  Arguments out;
  for (const Argument& argument : e.arguments) {
    if (argument.name.empty()) {
      out.positional.push_back(evaluate(*argument.value));
    } else {
      out.named.emplace_back(argument.name, evaluate(*argument.value));
    }
  }
  return out;
}

Value Interpreter::evaluate(const Expression& e) {
  const Depth depth(*this);
  step();
  const auto child = [&](std::size_t i) { return e.children[i] ? evaluate(*e.children[i]) : Value(); };
  switch (e.kind) {
    case Expression::Kind::kLiteral: return e.value;
    case Expression::Kind::kName: return lookup(e.name);
    case Expression::Kind::kList: {
      std::vector<Value> items;
      for (const auto& item : e.children) items.push_back(evaluate(*item));
      return make_list(std::move(items));
    }
    case Expression::Kind::kDict: {
      std::vector<std::pair<Value, Value>> items;
      for (std::size_t i = 0; i < e.children.size(); i += 2) {
        Value key = child(i);
        if (!key.text() && !key.is_number()) fail("a mapping's key must be text or a number");
        Value value = child(i + 1);
        const auto same = std::find_if(items.begin(), items.end(), [&](const auto& entry) { return equal(entry.first, key); });
        if (same != items.end()) {
          same->second = std::move(value);
        } else {
          items.emplace_back(std::move(key), std::move(value));
        }
      }
      return make_dict(std::move(items));
    }
    case Expression::Kind::kAttribute: return attribute(child(0), e.name);
    case Expression::Kind::kIndex: {
      const Value object = child(0);
      return item(object, child(1));
    }
    case Expression::Kind::kSlice: {
      const Value object = child(0);
      const Value from = child(1);
      const Value to = child(2);
      return slice(object, from, to, child(3));
    }
    case Expression::Kind::kCall: {
      const Value callee = child(0);
      return call(callee, evaluate_arguments(e));
    }
    case Expression::Kind::kFilter: {
      const Value value = child(0);
      return apply_filter(e.name, value, evaluate_arguments(e));
    }
    case Expression::Kind::kTest: {
      const Value value = child(0);
      return Value::boolean(apply_test(e.name, value, evaluate_arguments(e)));
    }
    case Expression::Kind::kUnary: {
      const Value value = child(0);
      if (e.name == "not") return Value::boolean(!value.truthy());
      if (const auto* v = value.get<double>()) return Value::Data(e.name == "-" ? -*v : *v);
      if (!value.is_number()) fail("a sign before something that is no number");
      const std::int64_t v = value.get<bool>() ? static_cast<std::int64_t>(*value.get<bool>()) : *value.get<std::int64_t>();
      std::int64_t result = v;
      if (e.name == "-" && __builtin_sub_overflow(std::int64_t{0}, v, &result)) fail("a number is too large");
      return Value::integer(result);
    }
    case Expression::Kind::kBinary: return evaluate_binary(e);
    case Expression::Kind::kCompare: return Value::boolean(evaluate_compare(e));
    case Expression::Kind::kConditional: return evaluate(*e.children[1]).truthy() ? child(0) : child(2);
  }
  return {};
}

bool Interpreter::evaluate_compare(const Expression& e) {
  Value left = evaluate(*e.children.front());
  for (std::size_t i = 0; i < e.names.size(); ++i) {
    Value right = evaluate(*e.children[i + 1]);
    const std::string& op = e.names[i];
    bool holds = false;
    if (op == "==" || op == "!=") {
      holds = equal(left, right) == (op == "==");
    } else if (op == "in" || op == "not in") {
      holds = contains(right, left) == (op == "in");
    } else {
      const int order = compare(left, right);
      holds = op == "<" ? order < 0 : op == ">" ? order > 0 : op == "<=" ? order <= 0 : order >= 0;
    }
    if (!holds) return false;
    left = std::move(right);
  }
  return true;
}

Value Interpreter::evaluate_binary(const Expression& e) {
  const Value left = evaluate(*e.children[0]);
  const std::string& op = e.name;
  if (op == "and") return left.truthy() ? evaluate(*e.children[1]) : left;
  if (op == "or") return left.truthy() ? left : evaluate(*e.children[1]);
  const Value right = evaluate(*e.children[1]);
  if (op == "~") {
    Text text = to_text(left);
    text.append(to_text(right));
    return make_text(std::move(text));
  }
  if (op == "+" && left.text() && right.text()) {
    charge(left.text()->size() + right.text()->size());
    Text text = *left.text();
    text.append(*right.text());
    return Value::text(std::move(text));
  }
  if (op == "+" && left.list() && right.list()) {
    std::vector<Value> items = left.list()->items;
    items.insert(items.end(), right.list()->items.begin(), right.list()->items.end());
    step(static_cast<std::int64_t>(items.size()));
    return make_list(std::move(items));
  }
  if (op == "*" && (left.text() || right.text())) {
    const Text& text = left.text() ? *left.text() : *right.text();
    const auto* count = (left.text() ? right : left).get<std::int64_t>();
    if (count == nullptr) fail("text can only be repeated a whole number of times");
    const std::int64_t times = std::max<std::int64_t>(0, *count);
    if (text.size() > 0 && static_cast<std::uint64_t>(times) > limits_.output_bytes / text.size()) {
      throw Exception(ErrorCode::kLimitExceeded, "chat template", "writes more than 8 MiB");
    }
    Text out;
    for (std::int64_t i = 0; i < times && text.size() > 0; ++i) out.append(text);
    return make_text(std::move(out));
  }
  if (!left.is_number() || !right.is_number()) {
    fail(std::string("cannot compute ") + left.type_name() + " " + op + " " + right.type_name());
  }
  const auto real = [](const Value& v) {
    if (const auto* d = v.get<double>()) return *d;
    if (const auto* b = v.get<bool>()) return *b ? 1.0 : 0.0;
    return static_cast<double>(*v.get<std::int64_t>());
  };
  if (left.get<double>() || right.get<double>() || op == "/") {
    const double a = real(left);
    const double b = real(right);
    if (b == 0 && (op == "/" || op == "//" || op == "%")) fail("division by zero");
    if (op == "+") return Value::Data(a + b);
    if (op == "-") return Value::Data(a - b);
    if (op == "*") return Value::Data(a * b);
    if (op == "/") return Value::Data(a / b);
    if (op == "//") return Value::Data(std::floor(a / b));
    if (op == "%") return Value::Data(a - b * std::floor(a / b));
    return Value::Data(std::pow(a, b));
  }
  const auto integer = [](const Value& v) { return v.get<bool>() ? static_cast<std::int64_t>(*v.get<bool>()) : *v.get<std::int64_t>(); };
  const std::int64_t a = integer(left);
  const std::int64_t b = integer(right);
  std::int64_t result = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (op == "//" || op == "%") {
    if (b == 0) fail("division by zero");
    if (b == -1) {  // the one quotient that does not fit is -2^63 / -1
      overflow = __builtin_sub_overflow(std::int64_t{0}, a, &result);
      if (op == "%") return Value::integer(0);
    } else {
      const bool down = a % b != 0 && (a < 0) != (b < 0);  // Python rounds towards minus infinity
      result = op == "//" ? a / b - (down ? 1 : 0) : a % b + (down ? b : 0);
    }
  } else {
    if (b < 0) return Value::Data(std::pow(static_cast<double>(a), static_cast<double>(b)));
    result = 1;
    for (std::int64_t i = 0; i < b && !overflow && result != 0; ++i) {
      step();
      overflow = __builtin_mul_overflow(result, a, &result);
    }
  }
  if (overflow) fail("a number is too large");
  return Value::integer(result);
}

Value Interpreter::attribute(const Value& object, const std::string& name) {
  if (name.starts_with('_')) fail("names that start with an underscore are not available");
  if (object.is_undefined()) fail("\"" + object.get<Undefined>()->name + "\" is undefined");
  if (const auto* space = object.get<Namespace*>()) {
    for (const auto& [known, value] : (*space)->items) {
      if (known == name) return value;
    }
    return Value::undefined(name);
  }
  static constexpr std::string_view kDictMethods[] = {"items", "keys", "values", "get"};
  static constexpr std::string_view kTextMethods[] = {"strip",      "lstrip",   "rstrip",  "split", "rsplit", "splitlines",
                                                      "startswith", "endswith", "replace", "upper", "lower",  "title",
                                                      "capitalize", "join",     "find",    "count", "format"};
  const auto method = [&](std::span<const std::string_view> names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if ((object.dict() && method(kDictMethods)) || (object.text() && method(kTextMethods))) {
    return Value::Data(Callable{name, std::make_shared<const Value>(object)});
  }
  if (object.dict()) {
    step(static_cast<std::int64_t>(object.dict()->items.size() / 64));
    if (const Value* found = find_key(*object.dict(), name)) return *found;
  }
  return Value::undefined(name);
}

Value Interpreter::item(const Value& object, const Value& key) {
  if (object.is_undefined()) fail("\"" + object.get<Undefined>()->name + "\" is undefined");
  if (const auto* index = key.get<std::int64_t>()) {
    if (const ListData* list = object.list()) {
      const auto count = static_cast<std::int64_t>(list->items.size());
      const std::int64_t at = *index < 0 ? *index + count : *index;
      if (at < 0 || at >= count) return Value::undefined("an item of a list");
      return list->items[static_cast<std::size_t>(at)];
    }
    if (const Text* text = object.text()) {
      const std::vector<std::size_t> offsets = character_offsets(*text);
      charge(text->size());
      const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
      const std::int64_t at = *index < 0 ? *index + count : *index;
      if (at < 0 || at >= count) return Value::undefined("a character of a text");
      const auto i = static_cast<std::size_t>(at);
      return make_text(text->part(offsets[i], offsets[i + 1] - offsets[i]));
    }
  }
  if (const DictData* dict = object.dict()) {
    for (const auto& [known, value] : dict->items) {
      if (equal(known, key)) return value;
    }
  }
  if (const Text* name = key.text()) return object.dict() ? Value::undefined(name->bytes()) : attribute(object, name->bytes());
  return Value::undefined("an item");
}

Value Interpreter::slice(const Value& object, const Value& from, const Value& to, const Value& step_value) {
  const auto part = [&](const Value& v, std::int64_t fallback) {
    if (v.is_undefined() || v.is_none()) return fallback;
    const auto* n = v.get<std::int64_t>();
    if (n == nullptr) fail("a slice's bounds must be whole numbers");
    return *n;
  };
  const std::int64_t step_size = part(step_value, 1);
  if (step_size == 0) fail("a slice's step must not be zero");
  std::vector<std::size_t> offsets;
  if (object.text()) {
    charge(object.text()->size());
    offsets = character_offsets(*object.text());
  } else if (!object.list()) {
    fail(std::string("cannot slice ") + object.type_name());
  }
  const auto count = static_cast<std::int64_t>(object.text() ? offsets.size() - 1 : object.list()->items.size());
  const auto clamp = [&](std::int64_t v) {
    if (v < 0) v = v < -count ? -1 : v + count;
    return std::clamp<std::int64_t>(v, step_size > 0 ? 0 : -1, step_size > 0 ? count : count - 1);
  };
  const auto bound = [&](const Value& v, std::int64_t fallback) { return v.is_undefined() || v.is_none() ? fallback : clamp(part(v, 0)); };
  const std::int64_t begin = bound(from, step_size > 0 ? 0 : count - 1);
  const std::int64_t end = bound(to, step_size > 0 ? count : -1);
  Text text;
  std::vector<Value> items;
  // Written so that no step, however large, overflows.
  for (std::int64_t i = begin; step_size > 0 ? i < end : i > end;) {
    const auto at = static_cast<std::size_t>(i);
    if (object.text()) {
      text.append_part(*object.text(), offsets[at], offsets[at + 1] - offsets[at]);
    } else {
      items.push_back(object.list()->items[at]);
    }
    if (step_size > 0 ? step_size >= end - i : step_size <= end - i) break;
    i += step_size;
  }
  step(static_cast<std::int64_t>(items.size()));
  return object.text() ? make_text(std::move(text)) : make_list(std::move(items));
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  if (const auto* macro = callee.get<const Macro*>()) return call_macro(**macro, arguments);
  if (const auto* function = callee.get<Callable>()) {
    return function->self ? call_method(*function->self, function->name, arguments) : call_function(function->name, arguments);
  }
  if (const auto* missing = callee.get<Undefined>()) {
    if (missing->name == "strftime_now") fail("strftime_now() is not available: the conversation has no day");
    fail("\"" + missing->name + "\" is undefined");
  }
  fail(std::string(callee.type_name()) + " cannot be called");
}

Value Interpreter::call_macro(const Macro& macro, const Arguments& arguments) {
  const Depth depth(*this);
  if (arguments.positional.size() > macro.parameters.size()) fail("macro " + macro.name + " takes fewer arguments");
  Scope inner;
  inner.parent = &root_;  // a macro sees what the template set at its top level, not its caller's names
  Scope* const outer = std::exchange(scope_, &inner);
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const auto& [name, fallback] = macro.parameters[i];
    const Value* given = arguments.find(i, name);
    assign({name}, given ? *given : fallback ? evaluate(*fallback) : Value::undefined(name));
  }
  for (const auto& [name, value] : arguments.named) {
    const bool known =
        std::any_of(macro.parameters.begin(), macro.parameters.end(), [&name = name](const auto& p) { return p.first == name; });
    if (!known) fail("macro " + macro.name + " has no argument of that name");
  }
  Value result = make_text(capture(macro.body));
  scope_ = outer;
  return result;
}

const Value* Interpreter::Arguments::find(std::size_t position, std::string_view name) const {
  if (position < positional.size()) return &positional[position];
  for (const auto& [known, value] : named) {
    if (known == name) return &value;
  }
  return nullptr;
}

}  // namespace winnow::chat
