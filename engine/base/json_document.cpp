#include "engine/base/json_document.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "engine/base/file_bytes.h"
#include "engine/base/known_format.h"

namespace winnow {
namespace {

// At most 64 bytes of it, escaped.
std::string escaped_key(const std::string& text) { return Json(text.substr(0, 64)).dump(-1, ' ', true, Json::error_handler_t::replace); }

// Builds the document event by event; throws at the first thing that a limit or the duplicate rule forbids.
// Document: Json or ordered_json, whose operator[] looks at every member: members are added without it.
template <typename Document>
class DocumentBuilder : public nlohmann::json_sax<Document> {
 public:
  using Base = nlohmann::json_sax<Document>;

  DocumentBuilder(const std::string& subject, const JsonLimits& limits) : subject_(subject), limits_(limits) {}

  Document take() { return std::move(root_); }

  bool null() override { return add(Document(nullptr)) != nullptr; }
  bool boolean(bool value) override { return add(Document(value)) != nullptr; }
  bool number_integer(typename Base::number_integer_t value) override { return add(Document(value)) != nullptr; }
  bool number_unsigned(typename Base::number_unsigned_t value) override { return add(Document(value)) != nullptr; }
  bool number_float(typename Base::number_float_t value, const typename Base::string_t&) override {
    return add(Document(value)) != nullptr;
  }
  bool string(typename Base::string_t& value) override { return add(Document(std::move(value))) != nullptr; }
  bool binary(typename Base::binary_t&) override { return false; }  // no such thing in JSON text

  bool start_object(std::size_t) override { return open(Document::object()); }
  bool start_array(std::size_t) override { return open(Document::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(typename Base::string_t& name) override {
    if (!open_.back().keys.insert(name).second) {
      throw Exception(ErrorCode::kDamagedFile, subject_, "the key " + escaped_key(name) + " occurs twice in one object");
    }
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    throw_json_syntax_error(subject_, position, error.what());
  }

 private:
  struct Open {
    Document* container;
    std::unordered_set<std::string> keys;
  };

  Document* add(Document value) {
    if (++elements_ > limits_.max_elements) {
      throw Exception(ErrorCode::kLimitExceeded, subject_, "the file has more than " + std::to_string(limits_.max_elements) + " values");
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Document& parent = *open_.back().container;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    auto& members = parent.template get_ref<typename Document::object_t&>();
    if constexpr (std::is_same_v<Document, Json>) {
      return &members.emplace(std::move(key_), std::move(value)).first->second;
    } else {
      return &static_cast<typename Document::object_t::Container&>(members).emplace_back(std::move(key_), std::move(value)).second;
    }
  }

  bool open(Document container) {
    if (open_.size() >= static_cast<std::size_t>(limits_.max_depth)) {
      throw Exception(ErrorCode::kLimitExceeded, subject_, "the file nests deeper than " + std::to_string(limits_.max_depth) + " levels");
    }
    // Only the innermost container grows, so pointers to the outer ones stay valid.
    open_.push_back({add(std::move(container)), {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& subject_;
  const JsonLimits& limits_;
  Document root_;
  std::vector<Open> open_;
  std::string key_;
  std::size_t elements_ = 0;
};

template <typename Document>
Document parse_as(std::string_view text, const std::string& subject, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    throw Exception(ErrorCode::kLimitExceeded, subject,
                    "the file has " + std::to_string(text.size()) + " bytes, more than the limit of " + std::to_string(limits.max_bytes));
  }
  require_plain_json_text(text, subject);
  DocumentBuilder<Document> builder(subject, limits);
  if (!Document::sax_parse(text.begin(), text.end(), &builder)) throw Exception(ErrorCode::kDamagedFile, subject, "not valid JSON");
  return builder.take();
}

std::string number_text(double value) {
  std::string text = Json(value).dump();
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

void throw_json_syntax_error(const std::string& subject, std::size_t position, const char* parser_message) {
  const std::string_view message(parser_message);
  const std::string where = " near byte " + std::to_string(position);
  if (message.find("UTF-8") != std::string_view::npos) {
    throw Exception(ErrorCode::kDamagedFile, subject, "text that is not valid UTF-8" + where);
  }
  if (message.find("out_of_range.406") != std::string_view::npos) {
    throw Exception(ErrorCode::kDamagedFile, subject, "a number too large to represent" + where);
  }
  throw Exception(ErrorCode::kDamagedFile, subject, "not valid JSON" + where);
}

void require_plain_json_text(std::string_view text, const std::string& subject) {
  if (text.find('\0') != std::string_view::npos) throw Exception(ErrorCode::kDamagedFile, subject, "a NUL byte in JSON text");
  if (text.starts_with("\xEF\xBB\xBF")) throw Exception(ErrorCode::kDamagedFile, subject, "a byte order mark before JSON text");
}

Json parse_json(std::string_view text, const std::string& subject, const JsonLimits& limits) {
  return parse_as<Json>(text, subject, limits);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& subject, const JsonLimits& limits) {
  return parse_as<nlohmann::ordered_json>(text, subject, limits);
}

Json load_json(const std::string& path, const JsonLimits& limits) {
  const std::string text = read_file_bytes(path, limits.max_bytes);
  if (const std::optional<Error> error = unfetched(std::as_bytes(std::span(text)).first(std::min(text.size(), kFormatHeadBytes)), path))
    throw Exception(*error);
  return parse_json(text, path, limits);
}

JsonObject::JsonObject(const Json& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {
  if (!value.is_object()) {
    throw Exception(ErrorCode::kDamagedFile, path_.empty() ? file_ : file_ + ": " + path_, "it must be a JSON object");
  }
}

bool JsonObject::has(const char* key) const {
  const auto found = value_->find(key);
  return found != value_->end() && !found->is_null();
}

bool JsonObject::says(const char* key) const { return value_->contains(key); }

std::optional<std::string> JsonObject::first_present(std::initializer_list<const char*> keys) const {
  for (const char* key : keys) {
    if (has(key)) return key;
  }
  return std::nullopt;
}

const Json& JsonObject::value(const char* key) const {
  if (!has(key)) refuse(ErrorCode::kDamagedFile, key, "it is missing");
  return *value_->find(key);
}

std::int64_t JsonObject::checked_integer(const Json& value, std::string_view key, std::int64_t min, std::int64_t max) const {
  if (!value.is_number_integer()) refuse(ErrorCode::kDamagedFile, key, "it must be an integer");
  // get<int64>() would wrap a written 2^64-1 to -1.
  const bool beyond =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::int64_t number = beyond ? std::numeric_limits<std::int64_t>::max() : value.get<std::int64_t>();
  if (beyond || number > max) {
    refuse(ErrorCode::kLimitExceeded, key, "it is " + value.dump() + ", more than the limit of " + std::to_string(max));
  }
  if (number < min) refuse(ErrorCode::kDamagedFile, key, "it is " + value.dump() + ", less than " + std::to_string(min));
  return number;
}

double JsonObject::checked_real(const Json& value, std::string_view key, double min, double max) const {
  if (!value.is_number()) refuse(ErrorCode::kDamagedFile, key, "it must be a number");
  const double number = value.get<double>();
  if (!std::isfinite(number)) refuse(ErrorCode::kDamagedFile, key, "it must be finite");
  if (number > max) refuse(ErrorCode::kLimitExceeded, key, "it is " + value.dump() + ", more than the limit of " + number_text(max));
  if (number < min) refuse(ErrorCode::kDamagedFile, key, "it is " + value.dump() + ", less than " + number_text(min));
  return number;
}

std::int64_t JsonObject::integer(const char* key, std::int64_t min, std::int64_t max) const {
  return checked_integer(value(key), key, min, max);
}

std::int64_t JsonObject::integer(const char* key, std::int64_t min, std::int64_t max, std::int64_t fallback) const {
  return has(key) ? integer(key, min, max) : fallback;
}

std::uint64_t JsonObject::natural(const char* key) const {
  const Json& found = value(key);
  if (!found.is_number_unsigned()) refuse(ErrorCode::kDamagedFile, key, "it must be a whole number from 0 to 18446744073709551615");
  return found.get<std::uint64_t>();
}

std::uint64_t JsonObject::natural(const char* key, std::uint64_t fallback) const { return has(key) ? natural(key) : fallback; }

double JsonObject::real(const char* key, double min, double max) const { return checked_real(value(key), key, min, max); }

double JsonObject::real(const char* key, double min, double max, double fallback) const {
  return has(key) ? real(key, min, max) : fallback;
}

bool JsonObject::boolean(const char* key) const {
  const Json& found = value(key);
  if (!found.is_boolean()) refuse(ErrorCode::kDamagedFile, key, "it must be true or false");
  return found.get<bool>();
}

bool JsonObject::boolean(const char* key, bool fallback) const { return has(key) ? boolean(key) : fallback; }

const std::string& JsonObject::checked_string(const Json& value, std::string_view key, std::size_t max_bytes) const {
  if (!value.is_string()) refuse(ErrorCode::kDamagedFile, key, "it must be a string");
  const std::string& text = value.get_ref<const std::string&>();
  if (text.size() > max_bytes) refuse(ErrorCode::kLimitExceeded, key, "it is longer than " + std::to_string(max_bytes) + " bytes");
  return text;
}

std::string JsonObject::string(const char* key, std::size_t max_bytes) const { return checked_string(value(key), key, max_bytes); }

std::string JsonObject::string(const char* key, std::size_t max_bytes, std::string fallback) const {
  return has(key) ? string(key, max_bytes) : std::move(fallback);
}

JsonObject JsonObject::object(const char* key) const { return JsonObject(value(key), file_, path_.empty() ? key : path_ + "." + key); }

std::optional<JsonObject> JsonObject::optional_object(const char* key) const {
  if (!has(key)) return std::nullopt;
  return object(key);
}

const Json& JsonObject::list(const char* key, std::size_t max_count) const {
  const Json& found = value(key);
  if (!found.is_array()) refuse(ErrorCode::kDamagedFile, key, "it must be a list");
  if (found.size() > max_count) refuse(ErrorCode::kLimitExceeded, key, "it has more than " + std::to_string(max_count) + " entries");
  return found;
}

std::vector<std::int64_t> JsonObject::integers(const char* key, std::int64_t min, std::int64_t max, std::size_t max_count) const {
  std::vector<std::int64_t> numbers;
  for (const Json& entry : list(key, max_count)) numbers.push_back(checked_integer(entry, key, min, max));
  return numbers;
}

std::vector<double> JsonObject::reals(const char* key, double min, double max, std::size_t max_count) const {
  std::vector<double> numbers;
  for (const Json& entry : list(key, max_count)) numbers.push_back(checked_real(entry, key, min, max));
  return numbers;
}

std::vector<std::string> JsonObject::strings(const char* key, std::size_t max_bytes, std::size_t max_count) const {
  std::vector<std::string> texts;
  for (const Json& entry : list(key, max_count)) texts.push_back(checked_string(entry, key, max_bytes));
  return texts;
}

std::string JsonObject::subject(std::string_view key) const {
  std::string text = file_ + ": ";
  if (!path_.empty()) text.append(path_).push_back('.');
  return text.append(key);
}

void JsonObject::refuse(ErrorCode code, std::string_view key, const std::string& reason) const {
  throw Exception(code, subject(key), reason);
}

}  // namespace winnow
