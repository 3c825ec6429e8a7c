// What is said in a sound, as OpenAI's clients ask for it, and sounds in the messages of a chat.
#include <QByteArray>
#include <atomic>
#include <nlohmann/json.hpp>

#include "app/programs/server/api_refusal.h"
#include "app/programs/server/form_data.h"
#include "app/programs/server/transcription_request.h"
#include "engine/base/file_bytes.h"
#include "tests/app/programs/server/api_server_fixture.h"
#include "tests/support/saw_tooth.h"

namespace winnow::app {
namespace {

using nlohmann::json;
using test::request;
using test::Say;
using test::waitUntil;

struct Field {
  std::string name;
  std::string value;
  bool isFile = false;
};

std::string formOf(const std::vector<Field>& fields) {
  std::string body;
  for (const Field& field : fields) {
    body += "--B0undary\r\nContent-Disposition: form-data; name=\"" + field.name + "\"" + (field.isFile ? "; filename=\"a b;c.wav\"" : "") +
            "\r\n" + (field.isFile ? "Content-Type: audio/wav\r\n" : "") + "\r\n" + field.value + "\r\n";
  }
  return body + "--B0undary--\r\n";
}

constexpr const char* kFormType = "Content-Type: multipart/form-data; boundary=B0undary\r\n";
constexpr const char* kWords = "POST /v1/audio/transcriptions";

class TranscriptionsTest : public ApiServerTest {
 protected:
  void SetUp() override {
    options.hearing = [this]() -> std::optional<Transcribe> {
      if (!here) return std::nullopt;
      return Transcribe{.model = "/models/tiny ears", .language = "en"};
    };
    start([this](const Request& asked) -> test::Script {
      if (!std::holds_alternative<Transcribe>(asked.body)) return test::default_script(asked);
      if (fault) return test::failure_script(*fault, "/store/x", "has no sound");
      if (stalls) return {{{}, test::Stall{}}};
      Transcribed heard{.language = "en", .sound_s = 2.5};
      if (words) heard.lines = {{0.5, 1.25, "Good morning."}, {1.5, 2.5, "One < two."}};
      return {{{}, Say{LinesHeard{}}}, {{}, Say{heard}}};
    });
  }
  std::string hear(std::vector<Field> fields) {
    fields.insert(fields.begin(), {"file", test::sawTooth(1), true});
    return ask(request(kWords, formOf(fields), kFormType));
  }
  std::vector<Transcribe> heard() const {
    std::vector<Transcribe> all;
    for (const Request& each : log->requests()) {
      if (const auto* sound = std::get_if<Transcribe>(&each.body)) all.push_back(*sound);
    }
    return all;
  }
  // A message with a sound, base64 as Qt writes it.
  static std::string spoken(const std::string& question) {
    const std::string sound = test::sawTooth(1);
    const json audio = {{"data", QByteArray(sound.data(), static_cast<qsizetype>(sound.size())).toBase64().toStdString()},
                        {"format", "wav"}};
    const json content = {{{"type", "input_audio"}, {"input_audio", audio}}, {{"type", "text"}, {"text", question}}};
    return json{{"messages", {{{"role", "user"}, {"content", content}}}}}.dump();
  }

  std::atomic<bool> here = true;
  std::atomic<bool> words = true;
  std::atomic<bool> stalls = false;
  std::optional<ErrorCode> fault;
};

TEST_F(TranscriptionsTest, EveryFormOfTheAnswer) {
  const json plain = json::parse(bodyOf(hear({{"model", "whisper-1"}})));
  EXPECT_EQ(plain["text"], "Good morning. One < two.");
  EXPECT_EQ(plain["usage"], (json{{"type", "duration"}, {"seconds", 3.0}}));
  EXPECT_FALSE(plain.contains("segments"));
  EXPECT_EQ(bodyOf(hear({{"model", "tiny ears"}, {"response_format", "text"}})), "Good morning. One < two.\n");
  const std::string srt = hear({{"response_format", "srt"}});
  EXPECT_EQ(bodyOf(srt).substr(0, 46), "1\n00:00:00,500 --> 00:00:01,250\nGood morning.\n");
  EXPECT_NE(srt.find("Content-Type: text/plain; charset=utf-8"), std::string::npos);
  const std::string vtt = hear({{"response_format", "vtt"}});
  EXPECT_TRUE(bodyOf(vtt).starts_with("WEBVTT\n\n00:00:00.500 --> 00:00:01.250\n"));
  EXPECT_NE(vtt.find("Content-Type: text/vtt"), std::string::npos);
  const json told = json::parse(bodyOf(
      hear({{"response_format", "verbose_json"}, {"timestamp_granularities[]", "segment"}, {"temperature", "0"}, {"stream", "false"}})));
  EXPECT_EQ(told["task"], "transcribe");
  EXPECT_EQ(told["language"], "english");
  EXPECT_EQ(told["duration"], 2.5);
  ASSERT_EQ(told["segments"].size(), 2U);
  EXPECT_EQ(told["segments"][1], (json{{"id", 1}, {"start", 1.5}, {"end", 2.5}, {"text", "One < two."}}));
  EXPECT_EQ(told["text"], plain["text"]);
  words = false;
  EXPECT_EQ(json::parse(bodyOf(hear({})))["text"], "") << "nothing is said";
}

TEST_F(TranscriptionsTest, TheFilesBytesAreHeardByTheModelThatIsHere) {
  EXPECT_EQ(statusOf(hear({{"model", "default"}, {"language", "de"}})), "200");
  EXPECT_EQ(statusOf(ask(request("POST /audio/transcriptions", formOf({{"file", test::sawTooth(1), true}}), kFormType))), "200");
  ASSERT_EQ(heard().size(), 2U);
  EXPECT_EQ(heard()[0].model, "/models/tiny ears");
  EXPECT_EQ(heard()[0].language, "de");
  EXPECT_EQ(heard()[1].language, "en") << "the server's";
  EXPECT_EQ(read_file_bytes(heard()[0].path, 100'000), test::sawTooth(1));
  const json models = json::parse(bodyOf(ask(request("GET /v1/models"))));
  ASSERT_EQ(models["data"].size(), 2U);
  EXPECT_EQ(models["data"][1]["id"], "tiny ears");
  EXPECT_EQ(json::parse(bodyOf(ask(request("GET /v1/models/tiny%20ears"))))["object"], "model");
  EXPECT_EQ(json::parse(bodyOf(ask(request("GET /props"))))["modalities"]["audio"], true);
}

TEST_F(TranscriptionsTest, WhatIsNotDoneIsRefusedByItsField) {
  const auto refused = [&](const std::vector<Field>& fields) {
    const std::string reply = hear(fields);
    EXPECT_EQ(statusOf(reply), "400") << reply;
    const json error = json::parse(bodyOf(reply))["error"];
    return error["param"].is_null() ? "" : error["param"].get<std::string>();
  };
  EXPECT_EQ(refused({{"prompt", "Names: Winnow"}}), "prompt");
  EXPECT_EQ(refused({{"temperature", "0.2"}}), "temperature");
  EXPECT_EQ(refused({{"temperature", "cold"}}), "temperature");
  EXPECT_EQ(refused({{"stream", "true"}}), "stream");
  EXPECT_EQ(refused({{"response_format", "xml"}}), "response_format");
  EXPECT_EQ(refused({{"timestamp_granularities[]", "segment"}, {"timestamp_granularities[]", "word"}}), "timestamp_granularities[]");
  EXPECT_EQ(refused({{"include[]", "logprobs"}}), "include[]");
  EXPECT_EQ(refused({{"file", "twice", true}}), "file");
  EXPECT_EQ(statusOf(hear({{"model", "whisper-9"}})), "404");
  const json noSound = json::parse(bodyOf(ask(request(kWords, formOf({{"file", "no sound at all", true}}), kFormType))))["error"];
  EXPECT_EQ(noSound["param"], "file");
  EXPECT_EQ(noSound["code"], "invalid_media");
  EXPECT_NE(ask(request(kWords, formOf({{"model", "whisper-1"}}), kFormType)).find("\"param\":\"file\""), std::string::npos);
  EXPECT_NE(ask(request(kWords, "{}", "Content-Type: application/json\r\n")).find("takes multipart/form-data"), std::string::npos);
  EXPECT_EQ(statusOf(ask(request("GET /v1/audio/transcriptions"))), "405");
  EXPECT_NE(ask(request("POST /v1/audio/translations", "{}")).find("use /v1/audio/transcriptions"), std::string::npos);
  here = false;
  EXPECT_NE(hear({}).find("no_speech_model"), std::string::npos);
  EXPECT_EQ(json::parse(bodyOf(ask(request("GET /v1/models"))))["data"].size(), 1U);
  EXPECT_TRUE(heard().empty());
}

TEST_F(TranscriptionsTest, WhatTheEngineRefusesNamesNoFile) {
  fault = ErrorCode::kUnsupportedFormat;
  const std::string reply = hear({});
  EXPECT_EQ(statusOf(reply), "400");
  EXPECT_NE(reply.find("has no sound"), std::string::npos) << reply;
  EXPECT_EQ(reply.find("/store/x"), std::string::npos) << reply;
}

TEST_F(TranscriptionsTest, WhoLeavesIsNotHeard) {
  stalls = true;
  {
    const test::HttpClient client(server->port());
    client.send(request(kWords, formOf({{"file", test::sawTooth(1), true}}), kFormType));
    ASSERT_TRUE(waitUntil([&] { return heard().size() == 1; }));
  }
  const RequestId id = log->requests().front().id;
  EXPECT_TRUE(waitUntil([&] { return log->interruptOf(id) == Interrupt::kCancel; }));
}

TEST_F(TranscriptionsTest, ASoundOfAChatIsADocumentOfTimedLinesAndHeardOnce) {
  for (int times = 0; times < 2; ++times) {
    const std::string reply = complete(spoken("What is said?"));
    EXPECT_EQ(statusOf(reply), "200") << reply;
  }
  EXPECT_EQ(heard().size(), 1U) << "the thread came again";
  const std::vector<Request> requests = log->requests();
  const auto& items = std::get<Turn>(requests.back().body).messages.front().items;
  const MediaRequest& document = std::get<MediaItem>(items.at(0)).media;
  EXPECT_EQ(document.kind, MediaKind::kDocument);
  EXPECT_EQ(read_file_bytes(document.path, 1000), "[0:01] Good morning.\n[0:02] One < two.\n");
}

TEST_F(TranscriptionsTest, SoundsOfAChatThatCannotBeHeardAreRefused) {
  const auto message = [&](const std::string& part) {
    return ask(request("POST /v1/chat/completions", R"({"messages":[{"role":"user","content":[)" + part + "]}]}"));
  };
  EXPECT_NE(message(R"({"type":"input_audio"})").find("messages[0].content[0].input_audio"), std::string::npos);
  EXPECT_NE(message(R"({"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}})").find("invalid_media"), std::string::npos);
  const json counted = {{"messages", json::parse(spoken("What?"))["messages"]}};
  EXPECT_NE(ask(request("POST /tokenize", counted.dump())).find("counting the tokens of a sound"), std::string::npos);
  words = false;
  EXPECT_NE(complete(spoken("What is said?")).find("nothing is said in a sound"), std::string::npos);
  here = false;
  EXPECT_NE(complete(spoken("What is said?")).find("no_speech_model"), std::string::npos);
}

TEST(FormData, FieldsAreReadWhateverTheyHold) {
  const std::string type = "Multipart/Form-Data; charset=utf-8; boundary=\"B0undary\"";
  const std::string bytes("a\r\n--B0undar\r\n\r\n\0--", 20);
  const std::string body = formOf({{"file", bytes, true}, {"model", ""}, {"model", "x"}});
  const std::vector<FormField> fields = formFields(type, body);
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0].value_view, bytes);
  EXPECT_TRUE(fields[0].isFile);
  EXPECT_EQ(fields[1].value_view, "");
  EXPECT_EQ(fields[2].name, "model");
  const std::string quoted = "--B\r\ncontent-disposition: form-data; filename=\"; name=x\"; name=\"a \\\"b\\\"\"\r\n\r\n1\r\n--B--";
  EXPECT_EQ(formFields("multipart/form-data; boundary=B", quoted).at(0).name, "a \"b\"");
}

TEST(FormData, EveryFormThatIsCutOffIsRefused) {
  const std::string type = "multipart/form-data; boundary=B0undary";
  const std::string body = formOf({{"file", "bytes", true}, {"model", "x"}});
  for (std::size_t length = 0; length < body.size() - 4; ++length)
    EXPECT_THROW(formFields(type, std::string_view(body).substr(0, length)), ApiRefusal) << length;
  EXPECT_EQ(formFields(type, std::string_view(body).substr(0, body.size() - 2)).size(), 2U) << "the last break is nobody's";
  for (const char* wrong : {"", "text/plain", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=B0undary",
                            "multipart/form-data; boundary=\"", "multipart/form-data; boundary"})
    EXPECT_THROW(formFields(wrong, body), ApiRefusal) << wrong;
  EXPECT_THROW(formFields(type, formOf(std::vector<Field>(kMostFields + 1, {"a", "1"}))), ApiRefusal);
  EXPECT_THROW(formFields(type, formOf({{std::string(kMostHeadBytes, 'a'), "1"}})), ApiRefusal);
  EXPECT_THROW(formFields(type, "--B0undary\r\nX: y\r\n\r\n1\r\n--B0undary--"), ApiRefusal) << "a field without a name";
}

}  // namespace
}  // namespace winnow::app
