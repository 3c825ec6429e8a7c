#include "app/programs/server/chat_request.h"

#include <gtest/gtest.h>

#include <QByteArray>
#include <filesystem>
#include <functional>

#include "app/media/files/media_opener.h"
#include "app/programs/server/api_refusal.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

// A picture of one white dot, as PNG.
const std::string kDot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg==";

class ChatRequestTest : public testing::Test {
 protected:
  ChatRequest read(const std::string& body) {
    const Json document = requestDocument(body);
    return chatRequestOf(RequestFields(document, ""), defaults, media, opener);
  }
  // Other fields around one message of the user.
  ChatRequest with(const std::string& fields) { return read(R"({"messages":[{"role":"user","content":"hi"}],)" + fields + "}"); }
  ChatRequest asking(const std::string& parts) { return read(R"({"messages":[{"role":"user","content":[)" + parts + "]}]}"); }
  std::string refusal(const std::function<void()>& of) {
    try {
      of();
    } catch (const ApiRefusal& refused) {
      EXPECT_EQ(refused.status(), 400);
      return refused.param() + ": " + refused.message();
    }
    ADD_FAILURE() << "it is not refused";
    return {};
  }

  test::ScratchFolder folder;
  std::string allowed = [this] {
    std::filesystem::create_directory(folder.file("films"));
    return folder.file("films");
  }();
  MediaStore store{folder.file("store"), 1 << 20};
  RequestMedia media{store, {allowed}};
  FfmpegMediaOpener opener;
  RequestDefaults defaults;
};

TEST_F(ChatRequestTest, ReadsAThread) {
  const ChatRequest request = read(R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"user":"me","messages":[
      {"role":"developer","content":"be short"},{"role":"user","content":"hi"},
      {"role":"assistant","content":"hello","reasoning_content":"greet back"},{"role":"user","content":[{"type":"text","text":"go on"}]}]})");
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.usageInStream);
  EXPECT_TRUE(request.ignored.empty());
  ASSERT_EQ(request.turn.messages.size(), 4U);
  EXPECT_EQ(request.turn.messages[0].role, Role::kSystem);
  EXPECT_EQ(request.turn.messages[2].thought, "greet back");
  EXPECT_EQ(std::get<TextItem>(request.turn.messages[3].items.at(0)).text, "go on");
}

TEST_F(ChatRequestTest, ReadsSampling) {
  const Sampling s =
      with(R"("temperature":0.5,"top_p":0.9,"top_k":-1,"min_p":0.1,"seed":7,"max_completion_tokens":5,"stop":["a","b"])").turn.sampling;
  EXPECT_EQ(s.temperature, 0.5);
  EXPECT_EQ(s.top_p, 0.9);
  EXPECT_EQ(s.top_k, 0);
  EXPECT_EQ(s.min_p, 0.1);
  EXPECT_EQ(s.seed, 7U);
  EXPECT_EQ(s.max_new_tokens, 5);
  EXPECT_EQ(s.stop_strings, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(with(R"("stop":"x")").turn.sampling.stop_strings, std::vector<std::string>{"x"});
  EXPECT_FALSE(with(R"("temperature":null)").lengthGiven) << "null is as if it were left out";
}

TEST_F(ChatRequestTest, AnAnswerThatIsSampledHasASeedOfItsOwnWhereNoneIsGiven) {
  const auto seed = [&](const std::string& fields) { return with(fields).turn.sampling.seed; };
  EXPECT_NE(seed(R"("temperature":1)"), seed(R"("temperature":1)")) << "one in four thousand million";
  EXPECT_EQ(seed(R"("temperature":1,"seed":7)"), 7U);
  EXPECT_EQ(seed(R"("temperature":0)"), 0U) << "nothing is drawn";
  defaults.sampling.seed = 5;
  defaults.seedGiven = true;
  EXPECT_EQ(seed(R"("temperature":1)"), 5U);
}

TEST_F(ChatRequestTest, NothingThatChangesTheAnswerIsLeftOutSilently) {
  for (const char* asked :
       {R"("n":2)", R"("logit_bias":{"5":1})", R"("presence_penalty":0.5)", R"("response_format":{"type":"json_object"})",
        R"("tool_choice":"required")", R"("modalities":["audio"])", R"("mm_processor_kwargs":{"max_pixels":1000})"})
    EXPECT_NE(refusal([&] { with(asked); }).find("not supported"), std::string::npos) << asked;
  for (const char* harmless : {R"("n":1)", R"("logprobs":false)", R"("logit_bias":{})", R"("presence_penalty":0)",
                               R"("tool_choice":"auto")", R"("response_format":{"type":"text"})", R"("metadata":{"a":"b"})"})
    EXPECT_TRUE(with(harmless).ignored.empty()) << harmless;
  EXPECT_EQ(with(R"("tools":[{"type":"function"}],"novelty":1)").ignored, (std::vector<std::string>{"novelty", "tools"}));
}

TEST_F(ChatRequestTest, ProbabilitiesAreAskedForAsOpenAIsClientsDo) {
  const auto told = [&](const std::string& fields) { return with(fields).turn.sampling.told_probabilities; };
  EXPECT_EQ(told(R"("logprobs":false)"), Sampling::kNoProbabilities);
  EXPECT_EQ(told(R"("logprobs":true)"), 0);
  EXPECT_EQ(told(R"("logprobs":true,"top_logprobs":3)"), 3);
  EXPECT_NE(refusal([&] { told(R"("top_logprobs":3)"); }).find("logprobs is true"), std::string::npos);
  EXPECT_NE(refusal([&] { told(R"("logprobs":true,"top_logprobs":21)"); }).find("from 0 to 20"), std::string::npos);
  EXPECT_NE(refusal([&] { told(R"("logprobs":3)"); }).find("true or false"), std::string::npos);
}

TEST_F(ChatRequestTest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(refusal([&] { read("[]"); }), ": must be an object");
  EXPECT_NE(refusal([&] { read("{"); }).find("not usable JSON"), std::string::npos);
  EXPECT_EQ(refusal([&] { with(R"("temperature":-1)"); }), "temperature: must be a number from 0 to 100");
  EXPECT_EQ(refusal([&] { with(R"("max_tokens":1e99)"); }), "max_tokens: must be a whole number from 1 to 1048576");
  EXPECT_EQ(refusal([&] { with(R"("max_tokens":18446744073709551615)"); }), "max_tokens: must be a whole number from 1 to 1048576");
  EXPECT_EQ(refusal([&] { with(R"("stream":"yes")"); }), "stream: must be true or false");
  EXPECT_EQ(refusal([&] { with(R"("stop":[""])"); }), "stop: must not be empty");
  EXPECT_EQ(refusal([&] { read(R"({"messages":[{"role":"owner","content":"x"}]})"); }),
            "messages[0].role: must be system, developer, user or assistant");
  for (const char* none : {R"({"messages":[{"role":"assistant","content":"y"}]})",
                           R"({"messages":[{"role":"user","content":"x"},{"role":"system","content":"y"}]})"})
    EXPECT_NE(refusal([&] { read(none); }).find("the last message must be the user's"), std::string::npos) << none;
  EXPECT_EQ(refusal([&] { asking(R"({"type":"poem"})"); }),
            "messages[0].content[0].type: must be text, image_url, video_url, input_video, input_audio, audio_url or file");
  EXPECT_EQ(refusal([&] { with(R"("winnow":{"share":1})"); }), "winnow.share: is not known");
}

TEST_F(ChatRequestTest, ALastMessageOfTheAssistantIsTheBeginningOfTheAnswer) {
  const Turn turn =
      read(R"({"continue_final_message":true,"add_generation_prompt":false,"messages":[{"role":"user","content":"name a color"},
      {"role":"assistant","reasoning_content":"a warm one","content":[{"type":"text","text":"It is "},{"type":"text","text":"or"}]}]})")
          .turn;
  ASSERT_EQ(turn.messages.size(), 1U);
  EXPECT_EQ(turn.answer_begun, "It is or");
  EXPECT_EQ(turn.thought_begun, "a warm one");
  const Turn empty = read(R"({"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null}]})").turn;
  EXPECT_TRUE(begins_anew(empty)) << "as some clients ask for an answer";
}

TEST_F(ChatRequestTest, Base64MayComeInLines) {
  const auto path = [&](const std::string& data) {
    const std::string part = R"({"type":"image_url","image_url":{"url":"data:image/png;base64,)" + data + R"("}})";
    return std::get<MediaItem>(asking(part).turn.messages.at(0).items.at(0)).media.path;
  };
  EXPECT_EQ(path(kDot.substr(0, 40) + R"(\r\n)" + kDot.substr(40, 20) + R"(\n)" + kDot.substr(60) + R"(\n)"), path(kDot));
}

TEST_F(ChatRequestTest, PicturesAreKeptByTheirBytes) {
  const std::string part = R"({"type":"image_url","image_url":{"url":"data:image/png;base64,)" + kDot + R"(","detail":"low"}})";
  const auto path = [&] { return std::get<MediaItem>(asking(part).turn.messages.at(0).items.at(0)).media.path; };
  const std::string first = path();
  EXPECT_EQ(first, path());
  EXPECT_TRUE(first.starts_with(folder.file("store/"))) << first;
}

TEST_F(ChatRequestTest, ThePartSaysThePicturesDetail) {
  const auto detail = [&](const std::string& said, const std::string& more = "") {
    const ChatRequest request =
        read(R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,)" + kDot + R"(")" +
             said + R"(}}]}])" + more + "}");
    return detail_word(std::get<MediaItem>(request.turn.messages.at(0).items.at(0)).media.detail);
  };
  EXPECT_EQ(detail(""), "auto");
  for (const char* word : {"auto", "low", "medium", "high"}) EXPECT_EQ(detail(R"(,"detail":")" + std::string(word) + R"(")"), word);
  EXPECT_EQ(detail(R"(,"detail":null)"), "auto");
  for (const char* none : {R"(,"detail":"512")", R"(,"detail":"finest")", R"(,"detail":512)"})
    EXPECT_NE(refusal([&] { detail(none); }).find("image_url.detail"), std::string::npos) << none;
  defaults.detail.pictures.level = DetailLevel::kMedium;
  EXPECT_EQ(detail(""), "medium") << "as the server was started";
  EXPECT_EQ(detail(R"(,"detail":"auto")"), "medium");
  EXPECT_EQ(detail(R"(,"detail":"high")"), "high");
}

TEST_F(ChatRequestTest, AProcessorsBoundsAreReadWhereTheModelHasThem) {
  const auto detail = [&](const std::string& settings) {
    const ChatRequest request =
        read(R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,)" + kDot +
             R"("}}]}],"mm_processor_kwargs":{)" + settings + "}}");
    return detail_word(std::get<MediaItem>(request.turn.messages.at(0).items.at(0)).media.detail);
  };
  EXPECT_NE(refusal([&] { detail(R"("max_pixels":100352)"); }).find("mm_processor_kwargs.max_pixels"), std::string::npos);
  EXPECT_NE(refusal([&] { detail(R"("max_soft_tokens":70)"); }).find("not supported"), std::string::npos);
  defaults.pictures = defaults.frames = {DetailKind::kAnySize, 256, 1024, 4096, 28};
  EXPECT_EQ(detail(R"("max_pixels":100352)"), "128") << "of 28 x 28 px each";
  EXPECT_EQ(detail(R"("max_pixels":101000)"), "128") << "whole tokens";
  EXPECT_EQ(detail(R"("max_pixels":1)"), "1");
  EXPECT_EQ(detail(R"("size":{"longest_edge":78400})"), "100");
  for (const char* none : {R"("min_pixels":5)", R"("size":{"shortest_edge":5})", R"("size":{"longest_edge":5,"shortest_edge":5})",
                           R"("total_pixels":5)", R"("resized_height":5)", R"("max_soft_tokens":70)"})
    EXPECT_NE(refusal([&] { detail(none); }).find("not supported"), std::string::npos) << none;
  for (const char* wrong : {R"("max_pixels":0)", R"("max_pixels":1e30)", R"("max_pixels":"many")", R"("size":5)"})
    EXPECT_NE(refusal([&] { detail(wrong); }).find("must be"), std::string::npos) << wrong;
  defaults.pictures = {DetailKind::kBudgets, 70, 280, 1120, 0};
  EXPECT_EQ(detail(R"("max_soft_tokens":560)"), "560");
  EXPECT_NE(refusal([&] { detail(R"("max_pixels":100352)"); }).find("not supported"), std::string::npos);
}

TEST_F(ChatRequestTest, WhatIsNoPictureIsRefused) {
  const auto image = [&](const std::string& url) {
    return refusal([&] { asking(R"({"type":"image_url","image_url":{"url":")" + url + R"("}})"); });
  };
  EXPECT_NE(image("https://example.org/a.png").find("not fetched from the network"), std::string::npos);
  EXPECT_NE(image("data:image/png,abc").find("base64"), std::string::npos);
  EXPECT_NE(image("data:image/png;base64,####").find("is not base64"), std::string::npos);
  EXPECT_NE(image("data:image/png;base64,AAAA").find("image_url.url"), std::string::npos);
  EXPECT_NE(image("ftp://x").find("must be a data URI"), std::string::npos);
  EXPECT_NE(refusal([&] {
              asking(R"({"type":"video_url","video_url":{"url":"data:video/mp4;base64,)" + kDot + R"("}})");
            }).find("is not a video"),
            std::string::npos);
}

TEST_F(ChatRequestTest, FilesOnlyBelowFoldersThatAreOpen) {
  const std::string bytes = QByteArray::fromBase64(QByteArray::fromStdString(kDot)).toStdString();
  folder.write("films/a dot.png", bytes);
  folder.write("secret.png", bytes);
  std::filesystem::create_symlink(folder.file("secret.png"), folder.file("films/link.png"));
  const auto part = [](const std::string& path) { return R"({"type":"image_url","image_url":{"url":"file://)" + path + R"("}})"; };
  EXPECT_EQ(std::get<MediaItem>(asking(part(allowed + "/a%20dot.png")).turn.messages.at(0).items.at(0)).media.path,
            std::filesystem::canonical(allowed).string() + "//./a dot.png");
  const std::string outside = refusal([&] { asking(part(folder.file("secret.png"))); });
  EXPECT_NE(outside.find("--media-folder"), std::string::npos);
  for (const std::string& path : {allowed + "/../secret.png", allowed + "/link.png", allowed + "/missing.png", allowed,
                                  std::string("/etc/passwd"), std::string("films/a dot.png"), allowed + "/%2e%2e/secret.png"})
    EXPECT_EQ(refusal([&] { asking(part(path)); }), outside) << path;
}

// Between the look at a name and its opening, in whichever process that is.
TEST(RequestMedia, TheNetworkIsNamedWhereMediaAreAndNowhereElse) {
  const auto names = [](const std::string& part) {
    return namesNetwork(requestDocument(R"({"messages":[{"role":"user","content":[{"type":"text","text":"http://a"},)" + part + "]}]}"));
  };
  EXPECT_TRUE(names(R"({"type":"image_url","image_url":{"url":"http:\/\/pictures.example\/dot.png"}})"));
  EXPECT_TRUE(names(R"({"type":"video_url","video_url":"https://films.example/film.mp4"})"));
  EXPECT_TRUE(names(R"({"type":"input_video","url":"https://films.example/film.mp4"})"));
  EXPECT_FALSE(names(R"({"type":"image_url","image_url":{"url":"data:image/png;base64,)" + kDot + R"("}})"));
  EXPECT_FALSE(names(R"({"type":"video_url","video_url":{"url":"file:///films/http://film.mp4"}})"));
}

TEST_F(ChatRequestTest, AFileThatIsSwappedForALinkIsNotOpenedElsewhere) {
  const std::string bytes = QByteArray::fromBase64(QByteArray::fromStdString(kDot)).toStdString();
  std::filesystem::create_directory(folder.file("elsewhere"));
  folder.write("elsewhere/dot.png", bytes);
  std::filesystem::create_directory(folder.file("films/inside"));
  folder.write("films/dot.png", bytes);
  folder.write("films/inside/dot.png", bytes);
  const auto named = [&](const std::string& path) {
    return std::get<MediaItem>(
               asking(R"({"type":"image_url","image_url":{"url":"file://)" + allowed + path + R"("}})").turn.messages.at(0).items.at(0))
        .media.path;
  };
  const std::string file = named("/dot.png"), below = named("/inside/dot.png");
  EXPECT_EQ(opener.detectKind(file), MediaKind::kImage);
  std::filesystem::remove(folder.file("films/dot.png"));
  std::filesystem::create_symlink(folder.file("elsewhere/dot.png"), folder.file("films/dot.png"));
  std::filesystem::rename(folder.file("films/inside"), folder.file("films/before"));
  std::filesystem::create_symlink(folder.file("elsewhere"), folder.file("films/inside"));
  EXPECT_THROW(opener.detectKind(file), Exception);
  EXPECT_THROW(opener.detectKind(below), Exception);
}

TEST_F(ChatRequestTest, FramesAsVllmsClientsAskForThem) {
  // The plan only counts for videos: it is read from the request and given to each of them.
  const std::string clip = source_folder() + "/resources/demo/samples/ten-seconds.mp4";
  std::filesystem::copy_file(clip, allowed + "/clip.mp4");
  const auto plan = [&](const std::string& fields) {
    const ChatRequest request = read(R"({"messages":[{"role":"user","content":[{"type":"video_url","video_url":{"url":"file://)" + allowed +
                                     R"(/clip.mp4"}},{"type":"text","text":"?"}]}])" + fields + "}");
    return std::get<MediaItem>(request.turn.messages.at(0).items.at(0)).media.plan;
  };
  EXPECT_EQ(plan(""), FramePlan());
  EXPECT_EQ(plan(R"(,"media_io_kwargs":{"video":{"num_frames":8}})").frame_count, 8);
  EXPECT_EQ(plan(R"(,"media_io_kwargs":{"video":{"fps":2}})").every_s, 0.5);
  EXPECT_EQ(plan(R"(,"mm_processor_kwargs":{"fps":4})").every_s, 0.25);
}

TEST_F(ChatRequestTest, OwnFieldsChooseMethodAndPins) {
  defaults.recipe.options["probe"] = "x";
  const Turn turn =
      with(R"("winnow":{"method":"snapkv","retention":0.5,"options":{"window":16},"guard":"ram","pins":[{"media":0,"from_s":1}]})").turn;
  EXPECT_EQ(turn.recipe.method, "snapkv");
  EXPECT_EQ(turn.recipe.retention, 0.5);
  EXPECT_EQ(turn.recipe.options, (std::map<std::string, std::string>{{"window", "16"}}));
  EXPECT_EQ(turn.guard, Guard::kRam);
  ASSERT_EQ(turn.pins.size(), 1U);
  EXPECT_EQ(turn.pins[0].from_s, 1.0);
}

TEST_F(ChatRequestTest, ThinkingIsSwitchedAsClientsKnowIt) {
  EXPECT_EQ(with(R"("chat_template_kwargs":{"enable_thinking":false})").turn.sampling.thought_tokens, 0);
  EXPECT_EQ(with(R"("reasoning_effort":"none")").turn.prompt.thinking, Thinking::kOff);
  EXPECT_EQ(with(R"("reasoning_effort":"high")").turn.prompt.thinking, Thinking::kAsTheTemplateHasIt);
}

}  // namespace
}  // namespace winnow::app
