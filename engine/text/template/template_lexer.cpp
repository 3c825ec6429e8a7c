#include "engine/text/template/template_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/error.h"
#include "engine/text/utf8.h"

namespace winnow::chat {
namespace {

bool is_ascii_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Jinja reads templates with every line end as \n, and without the last one.
std::string normalise_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out.push_back(source[i]);
    } else if (i + 1 >= source.size() || source[i + 1] != '\n') {
      out.push_back('\n');
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) text();
    push(Token::Kind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  void push(Token::Kind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  void advance(std::size_t count) {
    line_ += static_cast<int>(
        std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_), source_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
  }

  // Text up to the next tag, and the tag.
  void text() {
    std::size_t tag = at_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        tag = source_.size();
        break;
      }
      const char next = source_[tag + 1];
      if (next == '{' || next == '%' || next == '#') break;
      ++tag;
    }
    std::string literal = source_.substr(at_, tag - at_);
    if (tag == source_.size()) {
      emit(std::move(literal));
      advance(tag - at_);
      return;
    }
    const char type = source_[tag + 1];
    const char control = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    if (control == '-') {
      while (!literal.empty() && is_ascii_space(literal.back())) literal.pop_back();
    } else if (control != '+' && type != '{') {
      strip_line_start(literal);
    }
    emit(std::move(literal));
    advance(tag - at_ + 2 + (control == '-' || control == '+' ? 1 : 0));
    if (type == '#') {
      comment();
    } else {
      tag_body(type);
    }
  }

  void emit(std::string literal) {
    if (!literal.empty()) push(Token::Kind::kText, std::move(literal));
  }

  // lstrip_blocks: blanks between the start of the line and a block tag go, if there is nothing else.
  void strip_line_start(std::string& literal) const {
    const std::size_t line = literal.rfind('\n');
    const std::size_t from = line == std::string::npos ? 0 : line + 1;
    // Without a line end in this stretch, it is the start of a line only at the start of the template or after a removed line end.
    if (line == std::string::npos && at_ > 0 && source_[at_ - 1] != '\n') return;
    if (literal.find_first_not_of(" \t\v\f", from) == std::string::npos) literal.resize(from);
  }

  void after_tag(char control, bool block) {
    if (control == '-') {
      std::size_t count = 0;
      while (at_ + count < source_.size() && is_ascii_space(source_[at_ + count])) ++count;
      advance(count);
    } else if (control != '+' && block && at_ < source_.size() && source_[at_] == '\n') {
      advance(1);  // trim_blocks
    }
  }

  void comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string::npos) throw_template_error(line_, "a comment has no end");
    const char control = end > at_ && (source_[end - 1] == '-' || source_[end - 1] == '+') ? source_[end - 1] : ' ';
    advance(end + 2 - at_);
    after_tag(control, true);
  }

  void tag_body(char type) {
    const bool block = type == '%';
    push(block ? Token::Kind::kBlockBegin : Token::Kind::kOutputBegin, "");
    const std::size_t first = tokens_.size();
    const std::string_view close = block ? "%}" : "}}";
    int brackets = 0;
    while (true) {
      while (at_ < source_.size() && is_ascii_space(source_[at_])) advance(1);
      if (at_ >= source_.size()) throw_template_error(line_, "a tag has no end");
      const char c = source_[at_];
      const bool controlled = (c == '-' || (c == '+' && block)) && rest().substr(1).starts_with(close);
      if (brackets == 0 && (controlled || rest().starts_with(close))) {
        push(block ? Token::Kind::kBlockEnd : Token::Kind::kOutputEnd, "");
        advance(close.size() + (controlled ? 1 : 0));
        const bool raw = block && tokens_.size() == first + 2 && tokens_[first].kind == Token::Kind::kName && tokens_[first].text == "raw";
        after_tag(controlled ? c : ' ', block);
        if (raw) raw_body(first);
        return;
      }
      if (c == '(' || c == '[' || c == '{') ++brackets;
      if ((c == ')' || c == ']' || c == '}') && brackets > 0) --brackets;
      token();
    }
  }

  // {% raw %}: everything up to {% endraw %} is text.
  void raw_body(std::size_t first) {
    tokens_.resize(first - 1);
    std::size_t tag = at_;
    while (true) {
      tag = source_.find("{%", tag);
      if (tag == std::string::npos) throw_template_error(line_, "raw has no end");
      std::size_t name = tag + 2;
      const bool strip = name < source_.size() && source_[name] == '-';
      if (name < source_.size() && (source_[name] == '-' || source_[name] == '+')) ++name;
      while (name < source_.size() && is_ascii_space(source_[name])) ++name;
      if (source_.compare(name, 6, "endraw") != 0) {
        tag += 2;
        continue;
      }
      std::size_t end = name + 6;
      while (end < source_.size() && is_ascii_space(source_[end])) ++end;
      const char control = end < source_.size() && (source_[end] == '-' || source_[end] == '+') ? source_[end++] : ' ';
      if (source_.compare(end, 2, "%}") != 0) throw_template_error(line_, "endraw is not closed");
      std::string literal = source_.substr(at_, tag - at_);
      if (strip) {
        while (!literal.empty() && is_ascii_space(literal.back())) literal.pop_back();
      } else if (source_[tag + 2] != '+') {
        strip_line_start(literal);
      }
      emit(std::move(literal));
      advance(end + 2 - at_);
      after_tag(control, true);
      return;
    }
  }

  void token() {
    const char c = source_[at_];
    if (is_name_start(c)) {
      std::size_t count = 1;
      while (at_ + count < source_.size() && (is_name_start(source_[at_ + count]) || is_digit(source_[at_ + count]))) ++count;
      push(Token::Kind::kName, source_.substr(at_, count));
      advance(count);
    } else if (is_digit(c)) {
      number();
    } else if (c == '\'' || c == '"') {
      string(c);
    } else {
      static constexpr std::array<std::string_view, 26> kOperators = {"==", "!=", "<=", ">=", "//", "**", "+", "-", "*",
                                                                      "/",  "%",  "~",  "(",  ")",  "[",  "]", "{", "}",
                                                                      ":",  ",",  ".",  "|",  "=",  "<",  ">", ";"};
      for (const std::string_view op : kOperators) {
        if (!rest().starts_with(op)) continue;
        push(Token::Kind::kOperator, std::string(op));
        advance(op.size());
        return;
      }
      throw_template_error(line_, "an unexpected character in a tag");
    }
  }

  void number() {
    std::size_t count = 0;
    const auto digits = [&] {
      while (at_ + count < source_.size() && (is_digit(source_[at_ + count]) || source_[at_ + count] == '_')) ++count;
    };
    digits();
    bool real = false;
    if (at_ + count + 1 < source_.size() && source_[at_ + count] == '.' && is_digit(source_[at_ + count + 1])) {
      real = true;
      ++count;
      digits();
    }
    if (at_ + count < source_.size() && (source_[at_ + count] | 0x20) == 'e') {
      std::size_t exponent = at_ + count + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) ++exponent;
      if (exponent < source_.size() && is_digit(source_[exponent])) {
        real = true;
        count = exponent - at_;
        digits();
      }
    }
    std::string text = source_.substr(at_, count);
    std::erase(text, '_');
    if (text.size() > 40) throw_template_error(line_, "a number is too long");
    push(real ? Token::Kind::kFloat : Token::Kind::kInteger, std::move(text));
    advance(count);
  }

  void string(char quote) {
    std::string out;
    std::size_t i = at_ + 1;
    for (;; ++i) {
      if (i >= source_.size()) throw_template_error(line_, "a string has no end");
      const char c = source_[i];
      if (c == quote) break;
      if (c != '\\') {
        out.push_back(c);
        continue;
      }
      if (++i >= source_.size()) throw_template_error(line_, "a string has no end");
      i = escape(i, out);
    }
    push(Token::Kind::kString, std::move(out));
    advance(i + 1 - at_);
  }

  // Python's escapes; `i` is at the character after the backslash. Returns the last character used.
  std::size_t escape(std::size_t i, std::string& out) {
    static constexpr std::string_view kNames = "abfnrtv\\'\"";
    static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"";
    const char c = source_[i];
    if (const std::size_t known = kNames.find(c); known != std::string_view::npos) {
      out.push_back(kValues[known]);
      return i;
    }
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      if (c == '\n') return i;  // a continued line
      if (is_digit(c)) throw_template_error(line_, "octal escapes are not supported");
      out.push_back('\\');
      out.push_back(c);
      return i;
    }
    char32_t value = 0;
    for (std::size_t k = 1; k <= digits; ++k) {
      const char d = i + k < source_.size() ? source_[i + k] : ' ';
      if (std::isxdigit(static_cast<unsigned char>(d)) == 0) throw_template_error(line_, "an escape in a string is cut");
      value = value * 16 + static_cast<char32_t>(is_digit(d) ? d - '0' : (d | 0x20) - 'a' + 10);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) throw_template_error(line_, "an escape is no character");
    utf8::append(out, value);
    return i + digits;
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize_template(std::string_view source) { return Lexer(normalise_newlines(source)).run(); }

void throw_template_error(int line, const std::string& reason) {
  throw Exception(ErrorCode::kUnsupportedModel, "chat template", "line " + std::to_string(line) + ": " + reason);
}

}  // namespace winnow::chat
