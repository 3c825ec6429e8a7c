#include "engine/text/template/template_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/error.h"
#include "engine/text/template/template_lexer.h"

namespace winnow::chat {
namespace {

constexpr int kMaxTemplateNesting = 64;
constexpr int kMaxTreeDepth = 128;

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Block run() {
    Block body = block({});
    if (peek().kind != Token::Kind::kEnd) fail("an end tag without a beginning");
    return body;
  }

 private:
  // One level of brackets or blocks.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxTemplateNesting) throw Exception(ErrorCode::kLimitExceeded, "chat template", "is nested deeper than 64");
    }
    ~Level() { --parser_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token take() {
    Token token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  [[noreturn]] void fail(const std::string& reason) const { throw_template_error(peek().line, reason); }
  bool is(Token::Kind kind, std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == kind && peek(ahead).text == text;
  }
  bool is_operator(std::string_view text) const { return is(Token::Kind::kOperator, text); }
  bool is_name(std::string_view text, std::size_t ahead = 0) const { return is(Token::Kind::kName, text, ahead); }
  bool accept_operator(std::string_view text) {
    if (!is_operator(text)) return false;
    take();
    return true;
  }
  bool accept_name(std::string_view text) {
    if (!is_name(text)) return false;
    take();
    return true;
  }
  void expect_operator(std::string_view text) {
    if (!accept_operator(text)) fail("expected " + std::string(text));
  }
  std::string name() {
    if (peek().kind != Token::Kind::kName) fail("expected a name");
    return take().text;
  }
  void end_of_tag() {
    if (peek().kind != Token::Kind::kBlockEnd) fail("unexpected text at the end of a tag");
    take();
  }

  ExpressionPointer make(Expression::Kind kind, std::string name = "", std::vector<ExpressionPointer> children = {}) {
    auto node = std::make_unique<Expression>();
    node->kind = kind;
    node->name = std::move(name);
    node->line = peek().line;
    for (auto& child : children) add(*node, std::move(child));
    return node;
  }
  void add(Expression& node, ExpressionPointer child) {
    deepen(node, child.get());
    node.children.push_back(std::move(child));
  }
  void deepen(Expression& node, const Expression* child) {
    if (child == nullptr) return;
    node.depth = std::max(node.depth, child->depth + 1);
    if (node.depth > kMaxTreeDepth) throw Exception(ErrorCode::kLimitExceeded, "chat template", "an expression is nested too deeply");
  }
  template <typename... Children>
  ExpressionPointer node(Expression::Kind kind, std::string name, Children... children) {
    auto result = make(kind, std::move(name));
    (add(*result, std::move(children)), ...);
    return result;
  }

  // Statements.
  Block block(std::initializer_list<std::string_view> ends) {
    const Level level(*this);
    Block body;
    while (peek().kind != Token::Kind::kEnd) {
      const Token& token = peek();
      if (token.kind == Token::Kind::kText) {
        auto text = statement(Statement::Kind::kText);
        text->text = Value::literal(take().text);
        body.push_back(std::move(text));
      } else if (token.kind == Token::Kind::kOutputBegin) {
        take();
        auto output = statement(Statement::Kind::kOutput);
        output->expression = tuple();
        if (peek().kind != Token::Kind::kOutputEnd) fail("unexpected text at the end of an output");
        take();
        body.push_back(std::move(output));
      } else {
        if (peek(1).kind == Token::Kind::kName && std::find(ends.begin(), ends.end(), peek(1).text) != ends.end()) return body;
        take();
        body.push_back(tag());
      }
    }
    if (ends.size() > 0) fail("a block has no end");
    return body;
  }
  // The block up to one of `ends`, whose name is consumed and returned.
  std::string block_until(Block& body, std::initializer_list<std::string_view> ends) {
    body = block(ends);
    take();
    return take().text;
  }
  std::unique_ptr<Statement> statement(Statement::Kind kind) {
    auto result = std::make_unique<Statement>();
    result->kind = kind;
    result->line = peek().line;
    return result;
  }

  std::unique_ptr<Statement> tag() {
    const std::string keyword = name();
    if (keyword == "if") return if_tag();
    if (keyword == "for") return for_tag();
    if (keyword == "set") return set_tag();
    if (keyword == "macro") return macro_tag();
    if (keyword == "filter") return filter_tag();
    if (keyword == "generation") return generation_tag();
    if (keyword == "break" || keyword == "continue") {
      if (loops_ == 0) fail(keyword + " outside of a loop");
      auto result = statement(keyword == "break" ? Statement::Kind::kBreak : Statement::Kind::kContinue);
      end_of_tag();
      return result;
    }
    fail("the tag \"" + keyword.substr(0, 32) + "\" is not supported");
  }

  std::unique_ptr<Statement> if_tag() {
    auto result = statement(Statement::Kind::kIf);
    ExpressionPointer condition = tuple();
    end_of_tag();
    while (true) {
      Block body;
      const std::string end = block_until(body, {"elif", "else", "endif"});
      result->branches.emplace_back(std::move(condition), std::move(body));
      const bool had_else = result->branches.size() > 1 && result->branches.back().first == nullptr;
      if (end == "endif") break;
      if (had_else) fail("a branch after else");
      condition = end == "elif" ? tuple() : nullptr;
      end_of_tag();
    }
    end_of_tag();
    return result;
  }

  std::unique_ptr<Statement> for_tag() {
    auto result = statement(Statement::Kind::kFor);
    result->targets = target_names();
    if (!accept_name("in")) fail("expected in");
    result->expression = tuple(Conditionals::kNo);
    if (accept_name("if")) result->filter = expression();
    if (is_name("recursive")) fail("recursive loops are not supported");
    end_of_tag();
    ++loops_;
    const std::string end = block_until(result->body, {"else", "endfor"});
    --loops_;
    if (end == "else") {
      end_of_tag();
      block_until(result->otherwise, {"endfor"});
    }
    end_of_tag();
    return result;
  }

  std::vector<std::string> target_names() {
    const bool bracket = accept_operator("(");
    std::vector<std::string> names = {name()};
    while (accept_operator(",")) names.push_back(name());
    if (bracket) expect_operator(")");
    return names;
  }

  std::unique_ptr<Statement> set_tag() {
    auto result = statement(Statement::Kind::kSet);
    result->targets = target_names();
    if (result->targets.size() == 1 && accept_operator(".")) result->attribute = name();
    if (accept_operator("=")) {
      result->expression = tuple();
      end_of_tag();
      return result;
    }
    result->kind = Statement::Kind::kSetBlock;
    if (result->targets.size() != 1 || !result->attribute.empty()) fail("expected =");
    if (is_operator("|")) result->expression = filters(nullptr);
    end_of_tag();
    block_until(result->body, {"endset"});
    end_of_tag();
    return result;
  }

  std::unique_ptr<Statement> macro_tag() {
    auto result = statement(Statement::Kind::kMacro);
    Macro& macro = result->macro;
    macro.name = name();
    expect_operator("(");
    while (!accept_operator(")")) {
      std::string parameter = name();
      macro.parameters.emplace_back(std::move(parameter), accept_operator("=") ? expression() : nullptr);
      if (!is_operator(")")) expect_operator(",");
    }
    end_of_tag();
    const int outer_loops = std::exchange(loops_, 0);
    block_until(macro.body, {"endmacro"});
    loops_ = outer_loops;
    accept_name(macro.name);
    end_of_tag();
    return result;
  }

  std::unique_ptr<Statement> filter_tag() {
    auto result = statement(Statement::Kind::kFilterBlock);
    result->expression = filter_chain(nullptr);
    end_of_tag();
    block_until(result->body, {"endfilter"});
    end_of_tag();
    return result;
  }

  // Marks the assistant's words for training; text like any other here.
  std::unique_ptr<Statement> generation_tag() {
    auto result = statement(Statement::Kind::kGroup);
    end_of_tag();
    block_until(result->body, {"endgeneration"});
    end_of_tag();
    return result;
  }

  // Expressions, loosest binding first.
  enum class Conditionals { kYes, kNo };

  ExpressionPointer tuple(Conditionals conditionals = Conditionals::kYes) {
    const auto one = [&] { return conditionals == Conditionals::kYes ? expression() : either(); };
    ExpressionPointer first = one();
    if (!is_operator(",")) return first;
    auto list = node(Expression::Kind::kList, "", std::move(first));
    while (accept_operator(",")) {
      if (peek().kind == Token::Kind::kBlockEnd || peek().kind == Token::Kind::kOutputEnd || is_operator(")")) break;
      add(*list, one());
    }
    return list;
  }

  ExpressionPointer expression() {
    const Level level(*this);
    ExpressionPointer value = either();
    while (accept_name("if")) {
      ExpressionPointer condition = either();
      ExpressionPointer otherwise = accept_name("else") ? expression() : nullptr;
      value = node(Expression::Kind::kConditional, "", std::move(value), std::move(condition), std::move(otherwise));
    }
    return value;
  }
  ExpressionPointer either() {
    ExpressionPointer left = both();
    while (accept_name("or")) left = node(Expression::Kind::kBinary, "or", std::move(left), both());
    return left;
  }
  ExpressionPointer both() {
    ExpressionPointer left = negation();
    while (accept_name("and")) left = node(Expression::Kind::kBinary, "and", std::move(left), negation());
    return left;
  }
  ExpressionPointer negation() {
    if (is_name("not") && !is_name("in", 1)) {
      const Level level(*this);
      take();
      return node(Expression::Kind::kUnary, "not", negation());
    }
    return comparison();
  }
  ExpressionPointer comparison() {
    ExpressionPointer left = sum();
    ExpressionPointer chain;
    while (true) {
      std::string op;
      if (peek().kind == Token::Kind::kOperator) {
        for (const char* candidate : {"==", "!=", "<=", ">=", "<", ">"}) {
          if (is_operator(candidate)) op = candidate;
        }
        if (!op.empty()) take();
      } else if (accept_name("in")) {
        op = "in";
      } else if (is_name("not") && is_name("in", 1)) {
        take();
        take();
        op = "not in";
      }
      if (op.empty()) return chain ? std::move(chain) : std::move(left);
      if (!chain) chain = node(Expression::Kind::kCompare, "", std::move(left));
      chain->names.push_back(op);
      add(*chain, sum());
    }
  }
  template <typename Next>
  ExpressionPointer left_to_right(std::initializer_list<const char*> operators, Next&& next) {
    ExpressionPointer left = next();
    while (true) {
      const char* found = nullptr;
      for (const char* op : operators) {
        if (is_operator(op)) found = op;
      }
      if (found == nullptr) return left;
      take();
      left = node(Expression::Kind::kBinary, found, std::move(left), next());
    }
  }
  ExpressionPointer sum() {
    return left_to_right({"+", "-"}, [&] { return concatenation(); });
  }
  ExpressionPointer concatenation() {
    return left_to_right({"~"}, [&] { return product(); });
  }
  ExpressionPointer product() {
    return left_to_right({"*", "/", "//", "%"}, [&] { return power(); });
  }
  ExpressionPointer power() {
    return left_to_right({"**"}, [&] { return unary(true); });
  }
  ExpressionPointer unary(bool with_filters) {
    ExpressionPointer value;
    if (is_operator("-") || is_operator("+")) {
      const Level level(*this);
      const std::string sign = take().text;
      value = node(Expression::Kind::kUnary, sign, unary(false));
    } else {
      value = postfix(primary());
    }
    return with_filters ? filters(std::move(value)) : std::move(value);
  }

  ExpressionPointer primary() {
    const Token token = take();
    auto literal = make(Expression::Kind::kLiteral);
    switch (token.kind) {
      case Token::Kind::kString: {
        std::string text = token.text;
        while (peek().kind == Token::Kind::kString) text += take().text;
        literal->value = Value::literal(text);
        return literal;
      }
      case Token::Kind::kInteger: {
        std::int64_t value = 0;
        const auto result = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
        if (result.ec != std::errc()) fail("a number is too large");
        literal->value = Value::integer(value);
        return literal;
      }
      case Token::Kind::kFloat: {
        double value = 0;
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
        literal->value = Value::Data(value);
        return literal;
      }
      case Token::Kind::kName:
        if (token.text == "true" || token.text == "True" || token.text == "false" || token.text == "False") {
          literal->value = Value::boolean(token.text[0] == 't' || token.text[0] == 'T');
          return literal;
        }
        if (token.text == "none" || token.text == "None") {
          literal->value = Value::none();
          return literal;
        }
        return make(Expression::Kind::kName, token.text);
      case Token::Kind::kOperator:
        if (token.text == "(" || token.text == "[") return sequence(token.text == "(" ? ")" : "]");
        if (token.text == "{") return dictionary();
        [[fallthrough]];
      default: fail("expected a value");
    }
  }

  ExpressionPointer sequence(std::string_view close) {
    const Level level(*this);
    auto list = make(Expression::Kind::kList);
    bool comma = close == "]";
    while (!is_operator(close)) {
      add(*list, expression());
      if (is_operator(close)) break;
      expect_operator(",");
      comma = true;
    }
    take();
    if (!comma && list->children.size() == 1) return std::move(list->children.front());  // just brackets
    return list;
  }

  ExpressionPointer dictionary() {
    const Level level(*this);
    auto dict = make(Expression::Kind::kDict);
    while (!is_operator("}")) {
      add(*dict, expression());
      expect_operator(":");
      add(*dict, expression());
      if (!is_operator("}")) expect_operator(",");
    }
    take();
    return dict;
  }

  ExpressionPointer postfix(ExpressionPointer value) {
    while (true) {
      if (accept_operator(".")) {
        if (peek().kind == Token::Kind::kInteger) {
          value = node(Expression::Kind::kIndex, "", std::move(value), primary());
        } else {
          value = node(Expression::Kind::kAttribute, name(), std::move(value));
        }
      } else if (accept_operator("[")) {
        value = subscript(std::move(value));
      } else if (is_operator("(")) {
        value = call(std::move(value));
      } else {
        return value;
      }
    }
  }

  ExpressionPointer subscript(ExpressionPointer value) {
    const Level level(*this);
    ExpressionPointer parts[3];
    std::size_t colons = 0;
    while (!is_operator("]")) {
      if (accept_operator(":")) {
        if (++colons > 2) fail("a slice has three parts at most");
      } else {
        if (parts[colons]) fail("expected ]");
        parts[colons] = expression();
      }
    }
    take();
    if (colons == 0) {
      if (!parts[0]) fail("an index is missing");
      return node(Expression::Kind::kIndex, "", std::move(value), std::move(parts[0]));
    }
    return node(Expression::Kind::kSlice, "", std::move(value), std::move(parts[0]), std::move(parts[1]), std::move(parts[2]));
  }

  ExpressionPointer call(ExpressionPointer callee) {
    auto result = node(Expression::Kind::kCall, "", std::move(callee));
    arguments(*result);
    return result;
  }
  void arguments(Expression& call) {
    const Level level(*this);
    expect_operator("(");
    while (!accept_operator(")")) {
      Argument argument;
      if (peek().kind == Token::Kind::kName && is(Token::Kind::kOperator, "=", 1)) {
        argument.name = take().text;
        take();
      } else if (!call.arguments.empty() && !call.arguments.back().name.empty()) {
        fail("a positional argument after a named one");
      }
      argument.value = expression();
      deepen(call, argument.value.get());
      call.arguments.push_back(std::move(argument));
      if (!is_operator(")")) expect_operator(",");
    }
  }

  ExpressionPointer filters(ExpressionPointer value) {
    while (true) {
      if (accept_operator("|")) {
        value = filter_chain(std::move(value));
      } else if (accept_name("is")) {
        value = test(std::move(value));
      } else if (value != nullptr && is_operator("(")) {
        value = call(std::move(value));
      } else {
        return value;
      }
    }
  }
  // One filter by name, and those after further bars when there is no value before them.
  ExpressionPointer filter_chain(ExpressionPointer value) {
    const bool bare = value == nullptr;
    do {
      auto result = make(Expression::Kind::kFilter, name());
      add(*result, std::move(value));
      if (is_operator("(")) arguments(*result);
      value = std::move(result);
    } while (bare && accept_operator("|"));
    return value;
  }
  ExpressionPointer test(ExpressionPointer value) {
    const bool negated = accept_name("not");
    auto result = make(Expression::Kind::kTest, name());
    add(*result, std::move(value));
    const Token& next = peek();
    const bool keyword =
        next.kind == Token::Kind::kName && (next.text == "else" || next.text == "or" || next.text == "and" || next.text == "is" ||
                                            next.text == "if" || next.text == "in" || next.text == "not");
    if (is_operator("(")) {
      arguments(*result);
    } else if ((next.kind == Token::Kind::kName && !keyword) || next.kind == Token::Kind::kString || next.kind == Token::Kind::kInteger ||
               next.kind == Token::Kind::kFloat || is_operator("[") || is_operator("{")) {
      Argument argument{.value = postfix(primary())};
      deepen(*result, argument.value.get());
      result->arguments.push_back(std::move(argument));
    }
    if (!negated) return result;
    return node(Expression::Kind::kUnary, "not", std::move(result));
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  int loops_ = 0;
};

}  // namespace

Block parse_template(std::string_view source) {
  if (source.size() > kMaxTemplateBytes) throw Exception(ErrorCode::kLimitExceeded, "chat template", "is longer than 64 KiB");
  return Parser(tokenize_template(source)).run();
}

}  // namespace winnow::chat
