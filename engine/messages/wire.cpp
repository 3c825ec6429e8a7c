#include "engine/messages/wire.h"

#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

#include "engine/messages/wire_value.h"

namespace winnow {
namespace {

using fields::Path;
using wire::kRoot;
using wire::Value;
using wire::WireForm;

// The name of a body's struct: never changed.
template <class Body>
struct Kind {
  const char* name;
};
constexpr auto kKinds = std::tuple(
    Kind<LoadModel>{"load_model"}, Kind<Turn>{"turn"}, Kind<ExportTurn>{"export_turn"}, Kind<Compare>{"compare"}, Kind<Score>{"score"},
    Kind<Plan>{"plan"}, Kind<Prepare>{"prepare"}, Kind<WatchClip>{"watch_clip"}, Kind<SaveConversation>{"save_conversation"},
    Kind<LoadConversation>{"load_conversation"}, Kind<ForgetConversation>{"forget_conversation"}, Kind<Tokenize>{"tokenize"},
    Kind<Detokenize>{"detokenize"}, Kind<Progress>{"progress"}, Kind<ModelLoaded>{"model_loaded"}, Kind<ModelUnloaded>{"model_unloaded"},
    Kind<MediaSampled>{"media_sampled"}, Kind<TextDelta>{"text_delta"}, Kind<CacheReport>{"cache_report"},
    Kind<DecodeSample>{"decode_sample"}, Kind<Finished>{"finished"}, Kind<Failed>{"failed"}, Kind<ColumnStarted>{"column_started"},
    Kind<Scored>{"scored"}, Kind<Compared>{"compared"}, Kind<Planned>{"planned"}, Kind<Prepared>{"prepared"}, Kind<Watched>{"watched"},
    Kind<Saved>{"saved"}, Kind<Restored>{"restored"}, Kind<CacheSetAside>{"cache_set_aside"}, Kind<TokenSampled>{"token_sampled"},
    Kind<Tokenized>{"tokenized"}, Kind<Transcribe>{"transcribe"}, Kind<LinesHeard>{"lines_heard"}, Kind<Transcribed>{"transcribed"});
template <class Body>
constexpr const char* kKindOf = std::get<Kind<Body>>(kKinds).name;

// Counts what would be kept, so that a message that is too deep or too rich is refused before a value of it is.
class Bounds final : public nlohmann::json_sax<Value> {
 public:
  bool null() override { return counted(); }
  bool boolean(bool /*value*/) override { return counted(); }
  bool number_integer(number_integer_t /*value*/) override { return counted(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return counted(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return counted(); }
  bool string(string_t& /*value*/) override { return counted(); }
  bool binary(binary_t& /*value*/) override { return counted(); }
  bool start_object(std::size_t /*elements*/) override { return counted() && ++depth_ <= kMostWireDepth; }
  bool key(string_t& /*name*/) override { return counted(); }
  bool end_object() override { return --depth_ < kMostWireDepth; }
  bool start_array(std::size_t /*elements*/) override { return counted() && ++depth_ <= kMostWireDepth; }
  bool end_array() override { return --depth_ < kMostWireDepth; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& /*problem*/) override {
    damaged_ = true;
    return false;
  }
  bool damaged() const { return damaged_; }

 private:
  bool counted() { return ++values_ <= kMostWireValues; }

  std::size_t values_ = 0;
  std::size_t depth_ = 0;
  bool damaged_ = false;
};

Value message_of(std::span<const std::uint8_t> bytes) {
  Value value = wire::parsed(bytes);
  std::uint64_t version = 0;
  fields::read_field<WireForm>(value, "v", version, kRoot);
  if (version != kWireVersion) {
    throw Exception(ErrorCode::kUnsupportedFormat, "wire: v",
                    "the message is of version " + std::to_string(version) + ", this program speaks " + std::to_string(kWireVersion));
  }
  return value;
}

// False: no body has this name.
template <class... Bodies>
bool read_body(const std::string& kind, const Value& from, std::variant<Bodies...>& body) {
  const auto read = [&]<class Body>(std::type_identity<Body>) {
    return kind == kKindOf<Body> && fields::read<WireForm>(from, body.template emplace<Body>(), Path{&kRoot, kKindOf<Body>});
  };
  return (read(std::type_identity<Bodies>()) || ...);
}

template <class Message>
Message decoded(std::span<const std::uint8_t> bytes) {
  const Value value = message_of(bytes);
  std::string kind;
  Message message;
  fields::read_field<WireForm>(value, "id", message.id, kRoot);
  fields::read_field<WireForm>(value, "kind", kind, kRoot);
  const auto body = value.find("body");
  if (!read_body(kind, body == value.end() ? Value::object() : *body, message.body))
    throw Exception(ErrorCode::kUnsupportedFormat, "wire: kind", "there is no message \"" + kind.substr(0, 64) + "\"");
  if constexpr (requires { message.column; }) fields::read_field<WireForm>(value, "column", message.column, kRoot);
  return message;
}

template <class Message>
Value value_of(const Message& message) {
  return std::visit(
      [&]<class Body>(const Body& body) -> Value {
        return {{"v", kWireVersion}, {"id", message.id}, {"kind", kKindOf<Body>}, {"body", fields::written<WireForm>("body", body)}};
      },
      message.body);
}

std::size_t values_in(const Value& value) {
  std::size_t count = 1;
  if (value.is_array()) {
    for (const Value& inside : value) count += values_in(inside);
  } else if (value.is_object()) {
    for (const auto& [key, inside] : value.get_ref<const Value::object_t&>()) count += 1 + values_in(inside);
  }
  return count;
}

// Nothing is sent that a reader of this version would refuse.
std::vector<std::uint8_t> bounded(const Value& value) {
  if (values_in(value) > kMostWireValues) throw Exception(ErrorCode::kLimitExceeded, "wire", "a message has more values than any may have");
  std::vector<std::uint8_t> bytes = Value::to_cbor(value);
  if (bytes.size() > kMostWireBytes) throw Exception(ErrorCode::kLimitExceeded, "wire", "a message is larger than 512 MiB");
  return bytes;
}

}  // namespace

Value wire::parsed(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kMostWireBytes) throw Exception(ErrorCode::kLimitExceeded, "wire", "a message is larger than 512 MiB");
  Bounds bounds;
  if (!Value::sax_parse(bytes.begin(), bytes.end(), &bounds, Value::input_format_t::cbor)) {
    if (bounds.damaged()) throw Exception(ErrorCode::kDamagedFile, "wire", "a message is no CBOR");
    throw Exception(ErrorCode::kLimitExceeded, "wire", "a message has more values or is deeper than any of ours");
  }
  Value value = Value::from_cbor(bytes.begin(), bytes.end(), true, false);
  if (!value.is_object()) throw Exception(ErrorCode::kDamagedFile, "wire", "a message is no map");
  return value;
}

std::vector<std::uint8_t> encoded(const Request& request) { return bounded(value_of(request)); }

std::vector<std::uint8_t> encoded(const Event& event) {
  Value value = value_of(event);
  if (event.column != Event::kNoColumn) value["column"] = event.column;
  return bounded(value);
}

Request decoded_request(std::span<const std::uint8_t> bytes) { return decoded<Request>(bytes); }

Event decoded_event(std::span<const std::uint8_t> bytes) { return decoded<Event>(bytes); }

}  // namespace winnow
