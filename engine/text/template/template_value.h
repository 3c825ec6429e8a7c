// Values of the chat template language, and text that remembers which of its bytes a user wrote.
//
// Used by the template interpreter alone. Strings, lists and dictionaries are shared and never changed after they are made; only a
// namespace changes, and the interpreter owns those. A list knows how deep it nests, so that no value is deeper than 64.
// Threads: confined to one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace winnow::chat {

// Who wrote a byte: the template, or the message of this number, from 1. Messages beyond the last number share it.
using Writer = char16_t;
inline constexpr Writer kTemplate = 0;
inline constexpr Writer kLastWriter = 0xFFFF;

// UTF-8 with one mark per byte. What comes from a message is marked; cutting and joining keep the marks.
class Text {
 public:
  Text() = default;
  explicit Text(std::string bytes, Writer writer = kTemplate) : bytes_(std::move(bytes)), marks_(bytes_.size(), writer) {}

  const std::string& bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return bytes_.size(); }
  Writer writer(std::size_t i) const { return marks_[i]; }
  // The first that is no template.
  Writer first_message() const {
    const std::size_t at = marks_.find_first_not_of(kTemplate);
    return at == std::u16string::npos ? kTemplate : marks_[at];
  }

  Text part(std::size_t offset, std::size_t count) const {
    Text out;
    out.bytes_ = bytes_.substr(offset, count);
    out.marks_ = marks_.substr(offset, count);
    return out;
  }
  void append(const Text& other) {
    bytes_ += other.bytes_;
    marks_ += other.marks_;
  }
  void append_part(const Text& other, std::size_t offset, std::size_t count) {
    bytes_.append(other.bytes_, offset, count);
    marks_.append(other.marks_, offset, count);
  }
  // The same length with other bytes: case mapping of ASCII.
  template <typename Map>
  Text mapped(Map&& map) const {
    Text out = *this;
    for (std::size_t i = 0; i < out.bytes_.size(); ++i) out.bytes_[i] = map(i, bytes_[i]);
    return out;
  }

 private:
  std::string bytes_;
  std::u16string marks_;
};

class Value;
struct Macro;  // template_ast.h
struct Namespace;

using TextPointer = std::shared_ptr<const Text>;
struct ListData {
  std::vector<Value> items;
  int depth = 1;
};
struct DictData {
  std::vector<std::pair<Value, Value>> items;  // keys are strings, integers or booleans, in the order they were written
  int depth = 1;
};

// A name that can be called: a method of a value, or a function of the language.
struct Callable {
  std::string name;
  std::shared_ptr<const Value> self;  // null for functions
};

struct Undefined {
  std::string name;  // for the error message
};
struct None {};

class Value {
 public:
  using List = std::shared_ptr<const ListData>;
  using Dict = std::shared_ptr<const DictData>;
  using Data = std::variant<Undefined, None, bool, std::int64_t, double, TextPointer, List, Dict, Namespace*, const Macro*, Callable>;

  Value() = default;
  Value(Data data) : data_(std::move(data)) {}  // NOLINT: implicit on purpose
  static Value text(Text text) { return Data(std::make_shared<const Text>(std::move(text))); }
  static Value literal(std::string_view text) { return Value::text(Text(std::string(text))); }
  static Value integer(std::int64_t v) { return Data(v); }
  static Value boolean(bool v) { return Data(v); }
  static Value none() { return Data(None{}); }
  static Value undefined(std::string name) { return Data(Undefined{std::move(name)}); }

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&data_);
  }
  const Text* text() const {
    const auto* pointer = get<TextPointer>();
    return pointer ? pointer->get() : nullptr;
  }
  const ListData* list() const {
    const auto* pointer = get<List>();
    return pointer ? pointer->get() : nullptr;
  }
  const DictData* dict() const {
    const auto* pointer = get<Dict>();
    return pointer ? pointer->get() : nullptr;
  }
  bool is_undefined() const { return get<Undefined>() != nullptr; }
  bool is_none() const { return get<None>() != nullptr; }
  bool is_number() const { return get<std::int64_t>() || get<double>() || get<bool>(); }
  bool truthy() const;
  int depth() const { return list() ? list()->depth : dict() ? dict()->depth : 0; }
  const char* type_name() const;

 private:
  Data data_;
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> items;
};

inline constexpr int kMaxValueDepth = 64;

// Throw Exception kLimitExceeded when the value would nest deeper than kMaxValueDepth.
Value make_list(std::vector<Value> items);
Value make_dict(std::vector<std::pair<Value, Value>> items);

// The entry of a dictionary; null if there is none.
const Value* find_key(const DictData& dict, std::string_view key);

}  // namespace winnow::chat
