// The template for folders without one, as transformers renders it (tests/golden/minicpmv/threads.json, by make_minicpmv_golden.py).
#include "engine/model_files/family_templates.h"
#include "engine/models/families/minicpmv_folder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/text/chat_template.h"
#include "tests/support/source_folder.h"

namespace winnow::minicpmv_test {
namespace {

TemplateMessage message_of(const Json& told) {
  TemplateMessage message;
  message.role = told.at("role");
  message.thought = told.value("reasoning_content", "");
  for (const Json& part : told.at("content")) {
    const std::string type = part.at("type");
    using Kind = TemplateContent::Kind;
    message.content.push_back({type == "image" ? Kind::kImage : type == "video" ? Kind::kVideo : Kind::kText, part.value("text", "")});
  }
  return message;
}

TEST(MiniCpmVTemplate, RendersThreadsAsTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/minicpmv/threads.json");
  EXPECT_EQ(golden.at("template").get<std::string>(), family_template("minicpmv"));
  const ChatTemplate written(family_template("minicpmv"), "", "<|im_end|>");
  ASSERT_EQ(golden.at("rows").size(), 12U);
  for (const Json& row : golden.at("rows")) {
    std::vector<TemplateMessage> messages;
    for (const Json& told : row.at("messages")) messages.push_back(message_of(told));
    TemplateVariables variables{AddGenerationPrompt::kYes, std::nullopt, "2026-11-28"};
    if (!row.at("think").is_null()) variables.thinks = row.at("think").get<bool>();
    std::string text;
    for (const TemplatePiece& piece : written.render(messages, variables)) text += piece.text;
    EXPECT_EQ(text, row.at("expected").get<std::string>()) << row.dump();
  }
}

}  // namespace
}  // namespace winnow::minicpmv_test
