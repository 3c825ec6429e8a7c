// Every message survives its encoded form, no field is forgotten, and bytes that are none of ours are refused.
#include "engine/messages/wire.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <typeindex>

#include "engine/base/member_count.h"
#include "engine/messages/wire_value.h"
#include "tests/support/source_folder.h"
#include "tests/support/wire_exercise.h"

namespace winnow {
namespace {

using wire::Value;

// Draws a value of every field, the ends of ranges and odd texts among them.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  template <class T>
  void fill(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1 + below(fields::kLast<T>));
    } else if constexpr (std::is_same_v<T, bool>) {
      value = below(2) == 1;
    } else if constexpr (std::is_integral_v<T>) {
      const T odd[] = {0, 1, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), static_cast<T>(random_())};
      value = odd[below(5)];
    } else if constexpr (std::is_floating_point_v<T>) {
      const double odd[] = {0.0, -1.5, 1e300, std::numeric_limits<double>::infinity(), std::uniform_real_distribution<>(0.0, 1.0)(random_)};
      value = static_cast<T>(odd[below(5)]);
    } else if constexpr (std::is_same_v<T, std::string>) {
      const char* odd[] = {"", "text", "\xF0\x9F\x8E\xAC film", "\xFF\xC3 no UTF-8", "a\nb"};
      value = odd[below(5)];
      if (below(8) == 0) value += '\0';
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
      for (int i = 0; i < below(3); ++i) fill(value["option " + std::to_string(i)]);
    } else if constexpr (std::is_same_v<T, std::chrono::steady_clock::time_point>) {
      value = T(std::chrono::nanoseconds(random_()));
    } else if constexpr (std::is_same_v<T, std::pair<std::string, double>>) {
      fill(value.first);
      fill(value.second);
    } else if constexpr (std::is_same_v<T, Item>) {
      below(2) == 0 ? fill(value.template emplace<TextItem>()) : fill(value.template emplace<MediaItem>());
    } else if constexpr (fields::kIsOptional<T>) {
      if (below(2) == 0) fill(value.emplace());
    } else if constexpr (fields::kIsVector<T>) {
      value.resize(static_cast<std::size_t>(below(4)));
      for (auto& each : value) fill(each);
    } else {
      visit_fields(value, [&](const char*, auto& field) { fill(field); });
    }
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }

  std::mt19937 random_;
};

template <class Message, class Decode>
void expect_round_trips(Decode decode) {
  using Body = decltype(Message::body);
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    const auto one = [&]<std::size_t kBody>(std::integral_constant<std::size_t, kBody>) {
      for (std::uint32_t seed = 0; seed < 200; ++seed) {
        Message message;
        message.id = seed;
        Draw(seed).fill(message.body.template emplace<kBody>());
        const std::vector<std::uint8_t> bytes = encoded(message);
        const Message back = decode(bytes);
        ASSERT_EQ(back.body.index(), kBody);
        ASSERT_EQ(back.id, message.id);
        ASSERT_EQ(encoded(back), bytes) << "body " << kBody << ", seed " << seed;
      }
    };
    (one(std::integral_constant<std::size_t, kIndex>()), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Body>>());
}

TEST(Wire, EveryRequestComesBackAsItWas) { expect_round_trips<Request>(decoded_request); }
TEST(Wire, EveryEventComesBackAsItWas) { expect_round_trips<Event>(decoded_event); }

// The names of a struct's fields and, below, those of its fields' structs: once for each type, where it is met first.
class FieldNames {
 public:
  template <class Message>
  FieldNames& of_bodies() {
    [&]<class... Bodies>(std::type_identity<std::variant<Bodies...>>) {
      (add<Bodies>(Value::from_cbor(encoded(Message{0, Bodies{}}))["kind"]), ...);
    }(std::type_identity<decltype(Message::body)>());
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  template <class T>
  void add(const std::string& path) {
    if constexpr (std::is_same_v<T, Item>) {
      add<TextItem>(path);
      add<MediaItem>(path);
    } else if constexpr (fields::kIsVector<T> || fields::kIsOptional<T>) {
      add<typename T::value_type>(path);
    } else if constexpr (HasFields<T>) {
      if (!met_.insert(typeid(T)).second) return;
      T value{};
      std::size_t count = 0;
      text_ += path + ":";
      visit_fields(value, [&](const char* name, auto&) {
        text_ += std::string(" ") + name;
        ++count;
      });
      EXPECT_EQ(count, member_count<T>()) << "a member of this struct is not in message_fields.h: " << path;
      text_ += "\n";
      visit_fields(value, [&]<class Field>(const char* name, Field&) { add<Field>(path + "." + name); });
    }
  }

  std::set<std::type_index> met_;
  std::string text_;
};

// Whoever renames a member keeps its name outside. What is new is added to the file.
TEST(Wire, NoFieldIsForgottenAndNoneIsRenamed) {
  std::ifstream file(source_folder() + "/tests/engine/messages/field_names.txt");
  const std::string known{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(FieldNames().of_bodies<Request>().of_bodies<Event>().text(), known);
}

Request turn() {
  Turn body;
  body.conversation = 7;
  body.messages = {{Role::kUser, {MediaItem{{"a/\xFF.mp4", MediaKind::kVideo, {}, 0, {}, {}, {}}}, TextItem{"What comes next?"}}}};
  body.recipe.options["ask"] = "How many?";
  body.pins = {{0, 1.5, std::numeric_limits<double>::infinity()}};
  return {42, body};
}

TEST(Wire, KeepsWhatATurnSays) {
  const Request back = decoded_request(encoded(turn()));
  const Turn& body = std::get<Turn>(back.body);
  EXPECT_EQ(back.id, 42U);
  EXPECT_EQ(body.conversation, 7U);
  ASSERT_EQ(body.messages.size(), 1U);
  EXPECT_EQ(std::get<MediaItem>(body.messages[0].items[0]).media.path, "a/\xFF.mp4");
  EXPECT_EQ(std::get<TextItem>(body.messages[0].items[1]).text, "What comes next?");
  EXPECT_EQ(body.recipe, std::get<Turn>(turn().body).recipe);
  EXPECT_EQ(body.pins, std::get<Turn>(turn().body).pins);
}

TEST(Wire, AWordOfAnAnswerIsSmall) { EXPECT_LT(encoded(Event{1, TextDelta{"word"}, Event::kNoColumn}).size(), 80U); }

TEST(Wire, AColumnIsToldWhereThereIsOne) {
  EXPECT_EQ(decoded_event(encoded(Event{1, TextDelta{"a"}, 3})).column, 3);
  EXPECT_EQ(decoded_event(encoded(Event{1, TextDelta{"a"}, Event::kNoColumn})).column, Event::kNoColumn);
}

Error refused(const Value& value) {
  try {
    decoded_request(Value::to_cbor(value));
  } catch (const Exception& problem) {
    return problem.error();
  }
  return {ErrorCode::kInternal, "", "not refused"};
}
Value value_of(const Request& request) { return Value::from_cbor(encoded(request)); }

TEST(Wire, SkipsWhatItDoesNotKnowAndKeepsDefaults) {
  Value value = value_of(turn());
  value["later"] = {{"a", 1}};
  value["body"]["mood"] = "good";
  value["body"].erase("sampling");
  const Request back = decoded_request(Value::to_cbor(value));
  EXPECT_EQ(std::get<Turn>(back.body).sampling, Sampling());
  EXPECT_EQ(std::get<Turn>(back.body).conversation, 7U);
}

TEST(Wire, RefusesAnotherVersionAndUnknownMessages) {
  Value value = value_of(turn());
  value["v"] = 2;
  EXPECT_EQ(refused(value).code, ErrorCode::kUnsupportedFormat);
  value["v"] = kWireVersion;
  value["kind"] = "format_disk";
  EXPECT_EQ(refused(value).code, ErrorCode::kUnsupportedFormat);
  value.erase("kind");
  EXPECT_EQ(refused(value).code, ErrorCode::kUnsupportedFormat);
}

TEST(Wire, RefusesFieldsOfAnotherTypeOrRangeByTheirPath) {
  const auto with = [](auto change) {
    Value value = value_of(turn());
    change(value["body"]);
    return refused(value);
  };
  EXPECT_EQ(with([](Value& body) { body["recipe"]["seed"] = "seven"; }).subject, "wire: turn.recipe.seed");
  EXPECT_EQ(with([](Value& body) { body["recipe"]["seed"] = -1; }).subject, "wire: turn.recipe.seed");
  EXPECT_EQ(with([](Value& body) { body["sampling"]["top_k"] = std::int64_t{1} << 40; }).subject, "wire: turn.sampling.top_k");
  EXPECT_EQ(with([](Value& body) { body["guard"] = 9; }).subject, "wire: turn.guard");
  EXPECT_EQ(with([](Value& body) { body["guard"] = 0; }).subject, "wire: turn.guard");
  EXPECT_EQ(with([](Value& body) { body["messages"] = 3; }).subject, "wire: turn.messages");
  EXPECT_EQ(with([](Value& body) { body["pins"]["from_s"] = Value::binary({1, 2, 3}); }).subject, "wire: turn.pins.from_s");
  EXPECT_EQ(with([](Value& body) { body["pins"]["count"] = std::uint64_t{1} << 60; }).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(with([](Value& body) { body["pins"] = {{"count", std::uint64_t{1} << 60}}; }).code, ErrorCode::kDamagedFile);
}

TEST(Wire, RefusesWhatIsTooDeepOrTooRich) {
  std::vector<std::uint8_t> deep(1'000'000, 0x81);  // a list of a list of a list ...
  EXPECT_THROW(decoded_request(deep), Exception);
  Value list = Value::array();
  list.get_ref<Value::array_t&>().resize(kMostWireValues);
  EXPECT_EQ(refused(list).code, ErrorCode::kLimitExceeded);
  const std::vector<std::uint8_t> promise = {0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};  // a list of 2^63 - 1, and nothing
  EXPECT_THROW(decoded_request(promise), Exception);
}

// Its reader would end the process that sent it.
TEST(Wire, WhatAReaderWouldRefuseIsNotSent) {
  Tokenized tokens;
  tokens.pieces.resize(kMostWireValues / 2);
  EXPECT_NO_THROW(encoded(Event{1, tokens}));
  tokens.pieces.resize(kMostWireValues);
  try {
    encoded(Event{1, std::move(tokens)});
    FAIL() << "it was sent";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kLimitExceeded);
  }
}

TEST(Wire, RefusesEveryPartOfAMessageAndLivesThroughChangedBytes) {
  const std::vector<std::uint8_t> bytes = encoded(turn());
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_THROW(decoded_request(std::span(bytes).first(i)), Exception) << i;
  std::mt19937 random(3);
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint8_t> changed = bytes;
    for (int i = 0; i < 1 + round % 4; ++i) changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    if (test::exercise_wire(changed)) ++read;
  }
  EXPECT_GT(read, 100) << "a changed letter of a text is still a message";
}

}  // namespace
}  // namespace winnow
