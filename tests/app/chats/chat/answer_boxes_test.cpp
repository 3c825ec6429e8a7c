#include "app/chats/chat/answer_boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace winnow::app {
namespace {

// A photo of 2000 x 1000 pixels, which Qwen2.5-VL reads as 1008 x 504.
const std::vector<BoxMedium> kPhoto = {{MediaKind::kImage, 2000, 1000, 1008, 504, 0.0}};
const std::vector<BoxMedium> kVideo = {{MediaKind::kVideo, 640, 480, 0, 0, 60.0}};

// "dog 100 200 300 400; cat* 5 6": labels and whole pixels, a point with a star.
std::string boxesOf(const std::string& answer, const char* family, const std::vector<BoxMedium>& media = kPhoto) {
  std::string text;
  for (const AnswerBox& box : boxesIn(answer, QString::fromLatin1(family), media)) {
    if (!text.empty()) text += "; ";
    text += box.label.toStdString() + (box.kind == AnswerBox::Kind::kPoint ? "*" : "");
    if (box.timeS >= 0) text += "@" + std::to_string(static_cast<int>(box.timeS * 1000)) + "ms";
    text += " " + std::to_string(std::lround(box.left)) + " " + std::to_string(std::lround(box.top));
    if (box.kind == AnswerBox::Kind::kBox)
      text += " " + std::to_string(std::lround(box.right)) + " " + std::to_string(std::lround(box.bottom));
  }
  return text;
}

TEST(AnswerBoxes, Qwen3VlWritesThousandthsInJson) {
  const std::string answer =
      "Here they are:\n```json\n[\n\t{\"bbox_2d\": [100, 250, 500, 750], \"label\": \"dog\"},\n"
      "\t{\"point_2d\": [900, 100], \"label\": \"sun\"}\n]\n```";
  EXPECT_EQ(boxesOf(answer, "qwen3_vl"), "dog 200 250 1000 750; sun* 1800 100");
  EXPECT_EQ(boxesOf(answer, "qwen3_5_moe"), boxesOf(answer, "qwen3_vl"));
}

TEST(AnswerBoxes, Qwen25VlWritesPixelsOfThePictureAsItIsRead) {
  const std::string answer = R"([{"bbox_2d": [126, 63, 504, 252], "label": "dog"}, {"point_2d": ["1008", "504"], "label": "corner"}])";
  EXPECT_EQ(boxesOf(answer, "qwen2_5_vl"), "dog 250 125 1000 500; corner* 2000 1000");
  EXPECT_EQ(boxesOf(answer, "qwen2_5_vl", {{MediaKind::kImage, 2000, 1000, 0, 0, 0.0}}), "") << "nobody knows how large it was read";
}

TEST(AnswerBoxes, Qwen2VlWritesCornersBetweenMarks) {
  EXPECT_EQ(boxesOf("It is <|object_ref_start|>the dog<|object_ref_end|><|box_start|>(100,250),(500,750)<|box_end|>.", "qwen2_vl"),
            "the dog 200 250 1000 750");
  EXPECT_EQ(boxesOf("<|box_start|>(500,500)<|box_end|>", "qwen2_vl"), "* 1000 500");
}

TEST(AnswerBoxes, InternVlWritesListsOfBoxesBehindARef) {
  EXPECT_EQ(boxesOf("<ref>dog</ref><box>[[100, 250, 500, 750], [0, 0, 10, 20]]</box> and <box>[[1, 2, 3, 4]]</box>", "internvl"),
            "dog 200 250 1000 750; dog 0 0 20 20;  2 2 6 4");
  EXPECT_EQ(boxesOf("<ref>dog</ref>\n<box>[[100,250,500,750]]</box><box>[[0,0,10,20]]</box>", "internvl_chat"),
            "dog 200 250 1000 750; dog 0 0 20 20");
}

TEST(AnswerBoxes, MiniCpmVWritesNumbersApartBySpaces) {
  EXPECT_EQ(boxesOf("<ref>dog</ref><box>100 250 500 750</box> and <point>500 500</point>", "minicpmv4_6"),
            "dog 200 250 1000 750; * 1000 500");
}

TEST(AnswerBoxes, GlmVWritesNestedListsAmongOtherBoxedAnswers) {
  EXPECT_EQ(boxesOf("The dog is at <|begin_of_box|>[[100,250,500,750]]<|end_of_box|>.", "glm4v"), " 200 250 1000 750");
  EXPECT_EQ(boxesOf(R"(<|begin_of_box|>[{"label": "dog", "bbox_2d": [100, 250, 500, 750]}]<|end_of_box|>)", "glm46v"),
            "dog 200 250 1000 750");
  EXPECT_EQ(
      boxesOf("<|begin_of_box|>42<|end_of_box|> <|begin_of_box|>[3, 5]<|end_of_box|> <|begin_of_box|>[1, 2, 3, 4]<|end_of_box|>", "glm4v"),
      "");
}

TEST(AnswerBoxes, Gemma4NamesYFirstAndLfm2MayWriteFractions) {
  EXPECT_EQ(boxesOf(R"([{"box_2d": [250, 100, 750, 500], "label": "dog"}])", "gemma4"), "dog 200 250 1000 750");
  EXPECT_EQ(boxesOf(R"([{"label": "dog", "bbox": [0.1, 0.25, 0.5, 0.75]}])", "lfm2_vl"), "dog 200 250 1000 750");
}

TEST(AnswerBoxes, TextOfOtherModelsStaysText) {
  const std::string answer = R"({"bbox_2d": [100, 250, 500, 750], "label": "dog"})";
  for (const char* const family : {"", "llava", "qwen3", "gemma3"}) EXPECT_EQ(boxesOf(answer, family), "") << family;
  EXPECT_EQ(boxesOf(answer, "qwen3_vl", {}), "");
  EXPECT_EQ(boxesOf(answer, "qwen3_vl", {{MediaKind::kDocument, 0, 0, 0, 0, 0.0}}), "");
  EXPECT_EQ(boxesOf("A matrix [[1, 2, 3, 4]], a set {1, 2}, \\frac{1}{2}, {\"bbox\": 3} and <box> alone", "qwen3_vl"), "");
}

TEST(AnswerBoxes, SeveralPicturesNeedANumberAndVideosATime) {
  const std::vector<BoxMedium> two = {
      {MediaKind::kImage, 100, 100, 0, 0, 0.0}, {MediaKind::kDocument, 0, 0, 0, 0, 0.0}, {MediaKind::kImage, 1000, 1000, 0, 0, 0.0}};
  const std::vector<AnswerBox> boxes =
      boxesIn(R"([{"image_id": 1, "bbox_2d": [0, 0, 500, 500]}, {"bbox_2d": [0, 0, 1, 1]}, {"image_id": 2, "bbox_2d": [0, 0, 1, 1]}])",
              QStringLiteral("lfm2_vl"), two);
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes[0].medium, 2) << "documents are not counted";
  EXPECT_EQ(boxes[0].right, 500.0);
  EXPECT_EQ(boxesOf(R"({"time": 12.5, "bbox_2d": [0, 0, 500, 500], "label": "car"})", "qwen3_vl", kVideo), "car@12500ms 0 0 320 240");
  EXPECT_EQ(boxesOf(R"({"timestamp": "0:12.5", "bbox_2d": [0, 0, 500, 500]})", "qwen3_vl", kVideo), "@12500ms 0 0 320 240");
  EXPECT_EQ(boxesOf(R"({"time": "<7.5 seconds>", "bbox_2d": [0, 0, 500, 500]})", "qwen3_vl", kVideo), "@7500ms 0 0 320 240");
  for (const char* const time : {"61.5", "-1", "\"soon\"", "null", "[1]"})
    EXPECT_EQ(boxesOf(R"({"bbox_2d": [0, 0, 500, 500], "time": )" + std::string(time) + "}", "qwen3_vl", kVideo), "") << time;
  EXPECT_EQ(boxesOf(R"({"bbox_2d": [0, 0, 500, 500]})", "qwen3_vl", kVideo), "");
}

TEST(AnswerBoxes, HostileNumbersAreClampedOrLeftOut) {
  const auto box = [](const std::string& numbers) { return boxesOf("<box>" + numbers + "</box>", "internvl"); };
  EXPECT_EQ(box("500 750 100 250"), " 200 250 1000 750") << "swapped corners";
  EXPECT_EQ(box("-20 0 1040 1000"), " 0 0 2000 1000") << "a little outside";
  for (const char* const numbers : {"-900 0 500 500", "0 0 1500 900", "0 0 1e9 1e9", "0 0 999999999999999999999999999999 5", "nan nan 5 5",
                                    "0 0 inf 9", "5 5 5 90", "100,250,500", "1 2 3 4 5", "one two three four", "", "- - - -", "1..2 3 4 5"})
    EXPECT_EQ(box(numbers), "") << numbers;
  for (const char* const list :
       {"[1, 2, 3]", "[1, 2, 3, null]", "[[1, 2, 3, 4]]", "[1e400, 2, 3, 4]", "[\"a\", 2, 3, 4]", "\"1,2,3,4\"", "{}"})
    EXPECT_EQ(boxesOf(R"({"bbox_2d": )" + std::string(list) + "}", "qwen3_vl"), "") << list;
  EXPECT_EQ(boxesOf(R"({"bbox_2d": [1, 2, 3, 4], "label": 5})", "qwen3_vl"), " 2 2 6 4");
  EXPECT_EQ(boxesOf(R"({"bbox_2d": [1, 2, 3, 4], "label": "a\nb } { \" c"})", "qwen3_vl"), "a b } { \" c 2 2 6 4");
}

TEST(AnswerBoxes, WhatIsHalfWrittenIsNoBoxAndNothingTakesLong) {
  const std::string whole = R"([{"bbox_2d": [100, 250, 500, 750], "label": "dog"}] <box>1 2 3 4</box>)";
  std::size_t before = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::size_t boxes = boxesIn(whole.substr(0, length), QStringLiteral("qwen3_vl"), kPhoto).size();
    EXPECT_GE(boxes, before) << "a box that was seen stays";
    before = boxes;
  }
  EXPECT_EQ(before, 2U);
  for (const char* const part : {"{", "{\"", "<", "<box>", "<ref>", "{\"bbox_2d\":[", "<box>1 2 3 4"}) {
    std::string hostile;
    while (hostile.size() < 400'000) hostile += part;
    EXPECT_EQ(boxesOf(hostile, "qwen3_vl"), "");
  }
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "<box>1 2 3 4</box>";
  EXPECT_EQ(boxesIn(many, QStringLiteral("qwen3_vl"), kPhoto).size(), 100U);
}

TEST(AnswerBoxes, AreOfTheLastPicturesBeforeTheAnswer) {
  const auto message = [](MessageId id, Role role, const char* text) {
    return StoredMessage{.id = id, .parent = id - 1, .role = role, .text = QString::fromLatin1(text)};
  };
  StoredMessage first = message(1, Role::kUser, "What is it?");
  Attachment street;
  street.path = "street.jpg";
  street.widthPx = 2000;
  street.heightPx = 1000;
  street.sampled.readWidthPx = 1008;
  street.sampled.readHeightPx = 504;
  first.attachments.append(street);
  const StoredMessage early = message(2, Role::kAssistant, "A street.");
  const StoredMessage second = message(3, Role::kUser, "Where is the dog?");
  StoredMessage answer = message(4, Role::kAssistant, R"({"bbox_2d": [126, 63, 504, 252], "label": "dog"})");
  answer.run.family = QStringLiteral("qwen2_5_vl");
  const QList<StoredMessage> messages = {first, early, second, answer};
  const std::vector<PointedPicture> pictures = picturesPointedAt(answer, messages);
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_EQ(pictures[0].message, 1);
  EXPECT_EQ(pictures[0].attachment, 0);
  ASSERT_EQ(pictures[0].boxes.size(), 1U);
  EXPECT_EQ(boxToJson(pictures[0].boxes[0]).dump(),
            R"({"kind":"box","label":"dog","medium":0,"time_s":null,"x1":250.0,"y1":125.0,"x2":1000.0,"y2":500.0})");
  answer.state = MessageState::kStreaming;
  EXPECT_TRUE(picturesPointedAt(answer, messages).empty());
}

}  // namespace
}  // namespace winnow::app
