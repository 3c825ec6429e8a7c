// The template language's functions, methods, filters and tests.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/base/error.h"
#include "engine/text/template/template_date.h"
#include "engine/text/template/template_interpreter.h"
#include "engine/text/template/template_text.h"

namespace winnow::chat {

const Text& Interpreter::text_argument(const Arguments& arguments, std::size_t position, std::string_view name) {
  const Value* value = arguments.find(position, name);
  if (value == nullptr || value->text() == nullptr) fail("argument " + std::string(name) + " must be text");
  return *value->text();
}

std::int64_t Interpreter::integer_argument(const Arguments& arguments, std::size_t position, std::string_view name, std::int64_t fallback) {
  const Value* value = arguments.find(position, name);
  if (value == nullptr || value->is_none()) return fallback;
  if (const auto* number = value->get<std::int64_t>()) return *number;
  fail("argument " + std::string(name) + " must be a whole number");
}

// Texts, lists, mappings.

Text Interpreter::to_text(const Value& value) {
  if (value.is_undefined()) return {};
  if (const Text* text = value.text()) return *text;
  Text out;
  write_repr(value, out);
  return out;
}

void Interpreter::write_repr(const Value& value, Text& out) {
  step();
  const auto plain = [&](std::string text) { out.append(Text(std::move(text))); };
  if (out.size() > limits_.output_bytes) charge(out.size());
  if (value.is_none()) return plain("None");
  if (value.is_undefined()) return plain("Undefined");
  if (const auto* v = value.get<bool>()) return plain(*v ? "True" : "False");
  if (const auto* v = value.get<std::int64_t>()) return plain(std::to_string(*v));
  if (const auto* v = value.get<double>()) return plain(float_text(*v));
  if (const Text* v = value.text()) {
    charge(v->size());
    out.append(python_string(*v));
    return;
  }
  if (const ListData* v = value.list()) {
    plain("[");
    for (std::size_t i = 0; i < v->items.size(); ++i) {
      if (i > 0) plain(", ");
      write_repr(v->items[i], out);
    }
    return plain("]");
  }
  if (const DictData* v = value.dict()) {
    plain("{");
    for (std::size_t i = 0; i < v->items.size(); ++i) {
      if (i > 0) plain(", ");
      write_repr(v->items[i].first, out);
      plain(": ");
      write_repr(v->items[i].second, out);
    }
    return plain("}");
  }
  fail(std::string("cannot write a ") + value.type_name());
}

void Interpreter::write_json(const Value& value, std::int64_t indent, int level, Text& out) {
  step();
  const auto plain = [&](std::string text) { out.append(Text(std::move(text))); };
  if (out.size() > limits_.output_bytes) charge(out.size());
  const auto line = [&](int at) {
    if (indent >= 0) plain("\n" + std::string(static_cast<std::size_t>(indent) * static_cast<std::size_t>(at), ' '));
  };
  const auto separator = [&](std::size_t i) {
    if (i > 0) plain(indent >= 0 ? "," : ", ");
    line(level + 1);
  };
  if (value.is_none()) return plain("null");
  if (const auto* v = value.get<bool>()) return plain(*v ? "true" : "false");
  if (const auto* v = value.get<std::int64_t>()) return plain(std::to_string(*v));
  if (const auto* v = value.get<double>())
    return plain(std::isnan(*v) ? "NaN" : std::isinf(*v) ? (*v > 0 ? "Infinity" : "-Infinity") : float_text(*v));
  if (const Text* v = value.text()) {
    charge(v->size());
    out.append(json_string(*v));
    return;
  }
  if (const ListData* v = value.list()) {
    plain("[");
    for (std::size_t i = 0; i < v->items.size(); ++i) {
      separator(i);
      write_json(v->items[i], indent, level + 1, out);
    }
    if (!v->items.empty()) line(level);
    return plain("]");
  }
  if (const DictData* v = value.dict()) {
    plain("{");
    for (std::size_t i = 0; i < v->items.size(); ++i) {
      separator(i);
      out.append(json_string(to_text(v->items[i].first)));
      plain(": ");
      write_json(v->items[i].second, indent, level + 1, out);
    }
    if (!v->items.empty()) line(level);
    return plain("}");
  }
  fail(std::string("cannot write a ") + value.type_name() + " as JSON");
}

std::vector<Value> Interpreter::items_of(const Value& value) {
  std::vector<Value> items;
  if (const ListData* list = value.list()) {
    items = list->items;
  } else if (const DictData* dict = value.dict()) {
    for (const auto& entry : dict->items) items.push_back(entry.first);
  } else if (const Text* text = value.text()) {
    const std::vector<std::size_t> offsets = character_offsets(*text);
    step(static_cast<std::int64_t>(offsets.size()));
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) items.push_back(make_text(text->part(offsets[i], offsets[i + 1] - offsets[i])));
  } else if (!value.is_undefined()) {
    fail(std::string("cannot go through a ") + value.type_name());
  }
  step(static_cast<std::int64_t>(items.size() / 8));
  return items;
}

bool Interpreter::equal(const Value& a, const Value& b) {
  step();
  if (a.is_number() && b.is_number()) return compare(a, b) == 0;
  if (a.text() && b.text()) {
    charge(std::min(a.text()->size(), b.text()->size()));
    return a.text()->bytes() == b.text()->bytes();
  }
  if (a.list() && b.list()) {
    const auto& x = a.list()->items;
    const auto& y = b.list()->items;
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!equal(x[i], y[i])) return false;
    }
    return true;
  }
  if (a.dict() && b.dict()) {
    if (a.dict()->items.size() != b.dict()->items.size()) return false;
    for (const auto& [key, value] : a.dict()->items) {
      const auto& others = b.dict()->items;
      const auto found = std::find_if(others.begin(), others.end(), [&, &key = key](const auto& entry) { return equal(entry.first, key); });
      if (found == others.end() || !equal(value, found->second)) return false;
    }
    return true;
  }
  if (a.get<Namespace*>() && b.get<Namespace*>()) return *a.get<Namespace*>() == *b.get<Namespace*>();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

int Interpreter::compare(const Value& a, const Value& b) {
  step();
  if (a.is_number() && b.is_number()) {
    const auto integer = [](const Value& v) { return v.get<bool>() ? static_cast<std::int64_t>(*v.get<bool>()) : *v.get<std::int64_t>(); };
    if (!a.get<double>() && !b.get<double>()) {
      const std::int64_t x = integer(a);
      const std::int64_t y = integer(b);
      return x < y ? -1 : x > y ? 1 : 0;
    }
    const auto real = [&](const Value& v) { return v.get<double>() ? *v.get<double>() : static_cast<double>(integer(v)); };
    const double x = real(a);
    const double y = real(b);
    return x < y ? -1 : x == y ? 0 : 1;
  }
  if (a.text() && b.text()) {
    charge(std::min(a.text()->size(), b.text()->size()));
    const int order = a.text()->bytes().compare(b.text()->bytes());  // UTF-8 sorts as code points do
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a.is_undefined() || b.is_undefined()) fail("an undefined value is compared");
  fail(std::string("cannot compare ") + a.type_name() + " with " + b.type_name());
}

bool Interpreter::contains(const Value& container, const Value& value) {
  if (const Text* text = container.text()) {
    if (!value.text()) fail(std::string("a text cannot contain a ") + value.type_name());
    charge(text->size());
    charge(value.text()->size());
    return chat::contains(*text, value.text()->bytes());
  }
  for (const Value& item : items_of(container)) {
    if (equal(item, value)) return true;
  }
  return false;
}

Value Interpreter::attribute_path(const Value& object, const std::string& path) {
  Value value = object;
  for (const Text& part : split(Text(path), ".", -1)) {
    std::int64_t index = 0;
    const std::string& name = part.bytes();
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool number = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
    if (name.starts_with('_')) fail("names that start with an underscore are not available");
    value = item(value, number ? Value::integer(index) : Value::literal(name));
  }
  return value;
}

// Functions.

Value Interpreter::call_function(const std::string& name, const Arguments& arguments) {
  if (name == "range") {
    const bool one = arguments.positional.size() == 1;
    const std::int64_t begin = one ? 0 : integer_argument(arguments, 0, "start", 0);
    const std::int64_t end = integer_argument(arguments, one ? 0 : 1, "stop", 0);
    const std::int64_t by = integer_argument(arguments, 2, "step", 1);
    if (by == 0) fail("range's step must not be zero");
    std::vector<Value> items;
    for (std::int64_t i = begin; by > 0 ? i < end : i > end;) {
      step();
      items.push_back(Value::integer(i));
      if (__builtin_add_overflow(i, by, &i)) break;
    }
    return make_list(std::move(items));
  }
  if (name == "namespace") {
    auto space = std::make_unique<Namespace>();
    for (const auto& [key, value] : arguments.named) space->items.emplace_back(key, value);
    if (!arguments.positional.empty()) {
      const DictData* dict = arguments.positional.front().dict();
      if (dict == nullptr) fail("a namespace is made of a mapping or of named values");
      for (const auto& [key, value] : dict->items) space->items.emplace_back(to_text(key).bytes(), value);
    }
    namespaces_.push_back(std::move(space));
    return Value::Data(namespaces_.back().get());
  }
  if (name == "dict") {
    std::vector<std::pair<Value, Value>> items;
    if (!arguments.positional.empty()) {
      const DictData* dict = arguments.positional.front().dict();
      if (dict == nullptr) fail("dict() takes a mapping or named values");
      items = dict->items;
    }
    for (const auto& [key, value] : arguments.named) items.emplace_back(Value::literal(key), value);
    return make_dict(std::move(items));
  }
  require(name == "raise_exception", "every function of the language is here");
  const Value* message = arguments.find(0, "message");
  throw Exception(ErrorCode::kInvalidArgument, "chat template",
                  message ? to_text(*message).bytes().substr(0, 500) : "the template refuses the conversation");
}

// Methods.

Value Interpreter::call_method(const Value& self, const std::string& name, const Arguments& arguments) {
  if (name == "strftime_now") {
    const std::optional<std::string> date = date_text(self.text()->bytes(), text_argument(arguments, 0, "format").bytes());
    if (!date) fail("strftime_now has a format that is not known");
    return make_text(Text(*date));
  }
  if (name == "loop.cycle") {
    if (arguments.positional.empty()) fail("loop.cycle() needs values");
    return arguments.positional[static_cast<std::size_t>(*self.get<std::int64_t>()) % arguments.positional.size()];
  }
  if (const Text* text = self.text()) return call_text_method(*text, name, arguments);
  const DictData* dict = self.dict();
  if (dict == nullptr) fail(name + " cannot be called");
  if (name == "get") {
    const Value* key = arguments.find(0, "key");
    const Value* fallback = arguments.find(1, "default");
    if (key == nullptr) fail("get() needs a key");
    for (const auto& [known, value] : dict->items) {
      if (equal(known, *key)) return value;
    }
    return fallback ? *fallback : Value::none();
  }
  std::vector<Value> items;
  step(static_cast<std::int64_t>(dict->items.size()));
  for (const auto& [key, value] : dict->items) items.push_back(name == "keys" ? key : name == "values" ? value : make_list({key, value}));
  return make_list(std::move(items));
}

Value Interpreter::call_text_method(const Text& self, const std::string& name, const Arguments& arguments) {
  charge(self.size());
  for (const Value& argument : arguments.positional) charge(argument.text() ? argument.text()->size() : 0);
  for (const auto& [key, value] : arguments.named) charge(value.text() ? value.text()->size() : 0);
  // A piece is a step: no more of them are made than are left, and one to go over.
  const auto pieces = [&](std::int64_t limit) {
    const std::int64_t most = limits_.steps - steps_ + 1;
    return limit < 0 ? most : std::min(limit, most);
  };
  const auto list = [&](const std::vector<Text>& parts) {
    step(static_cast<std::int64_t>(parts.size()));
    std::vector<Value> items;
    items.reserve(parts.size());
    for (const Text& part : parts) items.push_back(Value::text(part));
    return make_list(std::move(items));
  };
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const Value* characters = arguments.find(0, "chars");
    const Sides sides = name == "strip" ? Sides::kBoth : name == "lstrip" ? Sides::kLeft : Sides::kRight;
    if (characters == nullptr || characters->is_none()) return make_text(strip(self, sides, std::nullopt));
    return make_text(strip(self, sides, text_argument(arguments, 0, "chars").bytes()));
  }
  if (name == "split" || name == "rsplit") {
    const Value* separator = arguments.find(0, "sep");
    const std::int64_t limit = integer_argument(arguments, 1, "maxsplit", -1);
    if (separator == nullptr || separator->is_none()) {
      if (name == "rsplit" && limit >= 0) fail("rsplit() with a limit needs a separator");
      return list(split_spaces(self, pieces(limit)));
    }
    const std::string& cut = text_argument(arguments, 0, "sep").bytes();
    if (cut.empty()) fail("an empty separator");
    return list(name == "split" ? split(self, cut, pieces(limit)) : split_from_right(self, cut, pieces(limit)));
  }
  if (name == "splitlines") return list(split_lines(self, pieces(-1)));
  if (name == "startswith" || name == "endswith") {
    const Value* part = arguments.find(0, "prefix");
    if (part == nullptr) fail(name + "() needs a text");
    const std::vector<Value> choices = part->list() ? part->list()->items : std::vector<Value>{*part};
    for (const Value& choice : choices) {
      if (!choice.text()) fail(name + "() needs a text");
      const std::string& bytes = choice.text()->bytes();
      if (name == "startswith" ? self.bytes().starts_with(bytes) : self.bytes().ends_with(bytes)) return Value::boolean(true);
    }
    return Value::boolean(false);
  }
  if (name == "replace") {
    const Text& from = text_argument(arguments, 0, "old");
    const Text& to = text_argument(arguments, 1, "new");
    // Its largest possible size, before any of it is written.
    const std::size_t places = from.size() == 0 ? self.size() + 1 : self.size() / from.size();
    if (to.size() > 0 && places > limits_.work_bytes / to.size()) {
      throw Exception(ErrorCode::kLimitExceeded, "chat template", "writes more than 8 MiB");
    }
    return make_text(replace(self, from, to, integer_argument(arguments, 2, "count", -1)));
  }
  if (name == "find") {
    const std::optional<std::size_t> found = chat::find(self, text_argument(arguments, 0, "sub").bytes());
    if (!found) return Value::integer(-1);
    return Value::integer(static_cast<std::int64_t>(character_offsets(self.part(0, *found)).size()) - 1);
  }
  if (name == "count") {
    const std::string& part = text_argument(arguments, 0, "sub").bytes();
    if (part.empty()) return Value::integer(static_cast<std::int64_t>(character_offsets(self).size()));
    return Value::integer(chat::count(self, part));
  }
  if (name == "join") {
    Arguments joined;
    joined.positional.push_back(Value::text(self));
    const Value* items = arguments.find(0, "iterable");
    if (items == nullptr) fail("join() needs a list");
    return apply_filter("join", *items, joined);
  }
  if (name == "format") return make_text(format(self, arguments));
  if (name == "upper") return make_text(upper(self));
  if (name == "lower") return make_text(lower(self));
  if (name == "title") return make_text(title(self));
  return make_text(capitalize(self));
}

// Filters.

// str.format() with plain fields: {}, {0}, {name}.
Text Interpreter::format(const Text& self, const Arguments& arguments) {
  const std::string& bytes = self.bytes();
  Text out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
    out.append_part(self, at, brace - at);
    at = brace;
    if (at == bytes.size()) break;
    if (at + 1 < bytes.size() && bytes[at + 1] == bytes[at]) {  // a brace that is written twice is one
      out.append_part(self, at, 1);
      at += 2;
      continue;
    }
    const std::size_t end = bytes.find('}', at);
    if (bytes[at] == '}' || end == std::string::npos) fail("format() with a brace alone");
    step();
    const std::string field = bytes.substr(at + 1, end - at - 1);
    if (field.find_first_of("{:!.[") != std::string::npos) fail("format() with more than a field's name is not supported");
    const bool index = field.size() == 1 && field[0] >= '0' && field[0] <= '9';
    const std::size_t position = field.empty() ? next++ : index ? static_cast<std::size_t>(field[0] - '0') : arguments.positional.size();
    const Value* value = arguments.find(position, field.empty() ? std::string_view("") : std::string_view(field));
    if (value == nullptr) fail("format() has no value for a field");
    const Text text = to_text(*value);
    charge(text.size());
    out.append(text);
    if (out.size() > limits_.output_bytes) throw Exception(ErrorCode::kLimitExceeded, "chat template", "writes more than 8 MiB");
    at = end + 1;
  }
  return out;
}

Value Interpreter::select(const std::string& filter, const Value& value, const Arguments& arguments) {
  const bool by_attribute = filter == "selectattr" || filter == "rejectattr";
  const bool wanted = filter == "selectattr" || filter == "select";
  const std::size_t test_at = by_attribute ? 1 : 0;
  const std::string path = by_attribute ? text_argument(arguments, 0, "attribute").bytes() : "";
  const std::string test = arguments.positional.size() > test_at ? text_argument(arguments, test_at, "test").bytes() : "";
  Arguments rest;
  for (std::size_t i = test_at + 1; i < arguments.positional.size(); ++i) rest.positional.push_back(arguments.positional[i]);
  std::vector<Value> kept;
  if (!value.truthy()) return make_list({});  // none, too: there are no tools
  for (const Value& item : items_of(value)) {
    step();
    const Value subject = by_attribute ? attribute_path(item, path) : item;
    if ((test.empty() ? subject.truthy() : apply_test(test, subject, rest)) == wanted) kept.push_back(item);
  }
  return make_list(std::move(kept));
}

Value Interpreter::map(const Value& value, const Arguments& arguments) {
  std::vector<Value> items;
  const bool by_attribute = arguments.positional.empty();
  const std::string name = by_attribute ? text_argument(arguments, 1, "attribute").bytes() : text_argument(arguments, 0, "filter").bytes();
  const Value* fallback = arguments.find(arguments.positional.size(), "default");
  Arguments rest;
  for (std::size_t i = 1; i < arguments.positional.size(); ++i) rest.positional.push_back(arguments.positional[i]);
  if (!value.truthy()) return make_list({});
  for (const Value& item : items_of(value)) {
    step();
    Value result = by_attribute ? attribute_path(item, name) : apply_filter(name, item, rest);
    if (result.is_undefined() && fallback) result = *fallback;
    items.push_back(std::move(result));
  }
  return make_list(std::move(items));
}

// Entries of a mapping by their keys, letters of either case alike.
Value Interpreter::sorted_items(const Value& value, const Arguments& arguments) {
  if (!value.dict()) fail("dictsort needs a mapping");
  if (!arguments.positional.empty() || !arguments.named.empty()) fail("dictsort with arguments is not supported");
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, entry] : value.dict()->items) {
    if (!key.text() && !key.get<std::int64_t>()) fail("dictsort needs keys of text or whole numbers");
    entries.emplace_back(key.text() ? make_text(lower(*key.text())) : key, make_list({key, entry}));
  }
  std::stable_sort(entries.begin(), entries.end(), [this](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
  std::vector<Value> items;
  items.reserve(entries.size());
  for (auto& [key, entry] : entries) items.push_back(std::move(entry));
  return make_list(std::move(items));
}

Value Interpreter::apply_filter(const std::string& name, const Value& value, const Arguments& arguments) {
  const Depth depth(*this);
  step();
  if (name == "default" || name == "d") {
    const Value* fallback = arguments.find(0, "default_value");
    const Value* also_false = arguments.find(1, "boolean");
    const bool use = value.is_undefined() || (also_false && also_false->truthy() && !value.truthy());
    return use ? (fallback ? *fallback : Value::literal("")) : value;
  }
  if (name == "selectattr" || name == "rejectattr" || name == "select" || name == "reject") return select(name, value, arguments);
  if (name == "map") return map(value, arguments);
  if (name == "tojson") {
    const std::int64_t indent = integer_argument(arguments, 2, "indent", -1);  // transformers: (x, ensure_ascii, indent, ...)
    if (indent > 16) fail("an indent of more than 16");
    Text out;
    write_json(value, indent, 0, out);
    return make_text(std::move(out));
  }
  if (name == "length" || name == "count") {
    if (value.text()) return Value::integer(static_cast<std::int64_t>(character_offsets(*value.text()).size()) - 1);
    if (value.list()) return Value::integer(static_cast<std::int64_t>(value.list()->items.size()));
    if (value.dict()) return Value::integer(static_cast<std::int64_t>(value.dict()->items.size()));
    if (value.is_undefined()) return Value::integer(0);
    fail(std::string("a ") + value.type_name() + " has no length");
  }
  if (name == "first" || name == "last") {
    const std::vector<Value> items = items_of(value);
    if (items.empty()) return Value::undefined(name);
    return name == "first" ? items.front() : items.back();
  }
  if (name == "join") {
    const Value* separator = arguments.find(0, "d");
    const Value* path = arguments.find(1, "attribute");
    const Text between = separator ? to_text(*separator) : Text();
    Text out;
    bool first = true;
    for (const Value& item : items_of(value)) {
      step();
      if (!first) out.append(between);
      first = false;
      out.append(to_text(path ? attribute_path(item, to_text(*path).bytes()) : item));
      if (out.size() > limits_.output_bytes) charge(out.size());
    }
    return make_text(std::move(out));
  }
  if (name == "list") return make_list(items_of(value));
  if (name == "items") {
    if (value.is_undefined()) return make_list({});
    if (!value.dict()) fail("items needs a mapping");
    return call_method(value, "items", {});
  }
  if (name == "dictsort") return sorted_items(value, arguments);
  if (name == "reverse") {
    std::vector<Value> items = items_of(value);
    std::reverse(items.begin(), items.end());
    if (!value.text()) return make_list(std::move(items));
    Text out;
    for (const Value& item : items) out.append(*item.text());
    return make_text(std::move(out));
  }
  if (name == "string") return make_text(to_text(value));
  if (name == "safe") return value;
  if (name == "abs") {
    if (const auto* v = value.get<double>()) return Value::Data(std::fabs(*v));
    if (const auto* v = value.get<std::int64_t>(); v && *v != INT64_MIN) return Value::integer(*v < 0 ? -*v : *v);
    fail("abs needs a number");
  }
  if (name == "int" || name == "float") {
    const bool whole = name == "int";
    const Value* fallback = arguments.find(0, "default");
    const Value otherwise = fallback ? *fallback : whole ? Value::integer(0) : Value::Data(0.0);
    double number = 0;
    if (const auto* v = value.get<std::int64_t>()) return whole ? value : Value::Data(static_cast<double>(*v));
    if (const auto* v = value.get<bool>()) return whole ? Value::integer(*v) : Value::Data(*v ? 1.0 : 0.0);
    if (const auto* v = value.get<double>()) {
      number = *v;
    } else if (const Text* text = value.text()) {
      const Text trimmed = strip(*text, Sides::kBoth, std::nullopt);
      const std::string& bytes = trimmed.bytes();
      std::int64_t integer = 0;
      const auto exact = std::from_chars(bytes.data(), bytes.data() + bytes.size(), integer);
      if (whole && exact.ec == std::errc() && exact.ptr == bytes.data() + bytes.size()) return Value::integer(integer);
      const auto parsed = std::from_chars(bytes.data(), bytes.data() + bytes.size(), number);
      if (parsed.ec != std::errc() || parsed.ptr != bytes.data() + bytes.size()) return otherwise;
    } else {
      return otherwise;
    }
    if (!whole) return Value::Data(number);
    if (!(std::fabs(number) < 9.0e18)) return otherwise;
    return Value::integer(static_cast<std::int64_t>(number));
  }
  const bool on_text = name == "trim" || name == "upper" || name == "lower" || name == "title" || name == "capitalize" || name == "replace";
  if (!on_text) fail("the filter \"" + name.substr(0, 32) + "\" is not known");
  const Text text = to_text(value);
  return call_text_method(text, name == "trim" ? "strip" : name, arguments);
}

// Tests.

bool Interpreter::apply_test(const std::string& name, const Value& value, const Arguments& arguments) {
  const Depth depth(*this);
  step();
  const auto other = [&]() -> const Value& {
    const Value* found = arguments.find(0, "other");
    if (found == nullptr) fail("the test " + name + " needs a value");
    return *found;
  };
  const bool integer = value.get<std::int64_t>() != nullptr;
  if (name == "defined") return !value.is_undefined();
  if (name == "undefined") return value.is_undefined();
  if (name == "none") return value.is_none();
  if (name == "string") return value.text() != nullptr;
  if (name == "mapping") return value.dict() != nullptr;
  if (name == "iterable") return value.text() || value.list() || value.dict() || value.is_undefined();
  if (name == "sequence") return value.text() || value.list() || value.dict() || value.is_undefined();
  if (name == "number") return value.is_number();
  if (name == "integer") return integer;
  if (name == "float") return value.get<double>() != nullptr;
  if (name == "boolean") return value.get<bool>() != nullptr;
  if (name == "true") return value.get<bool>() && *value.get<bool>();
  if (name == "false") return value.get<bool>() && !*value.get<bool>();
  if (name == "callable") return value.get<Callable>() || value.get<const Macro*>();
  if (name == "equalto" || name == "eq" || name == "sameas") return equal(value, other());
  if (name == "ne") return !equal(value, other());
  if (name == "in") return contains(other(), value);
  if (name == "lt" || name == "lessthan") return compare(value, other()) < 0;
  if (name == "le") return compare(value, other()) <= 0;
  if (name == "gt" || name == "greaterthan") return compare(value, other()) > 0;
  if (name == "ge") return compare(value, other()) >= 0;
  if (name == "odd" || name == "even") {
    if (!integer) fail("the test " + name + " needs a whole number");
    return (*value.get<std::int64_t>() % 2 != 0) == (name == "odd");
  }
  if (name == "divisibleby") {
    const auto* by = other().get<std::int64_t>();
    if (!integer || by == nullptr || *by == 0 || *by == -1) fail("the test divisibleby needs whole numbers");
    return *value.get<std::int64_t>() % *by == 0;
  }
  fail("the test \"" + name.substr(0, 32) + "\" is not known");
}

}  // namespace winnow::chat
