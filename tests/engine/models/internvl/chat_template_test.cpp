#include "engine/models/families/internvl_chat_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/text/chat_template.h"

namespace winnow::internvl_test {
namespace {

std::string rendered(const char* name, const std::vector<TemplateMessage>& thread) {
  std::string text;
  for (const TemplatePiece& piece : ChatTemplate(internvl_chat_template(name)).render(thread, {AddGenerationPrompt::kYes}))
    text += piece.text;
  return text;
}

TemplateMessage says(const char* role, const char* text) { return {role, {{TemplateContent::Kind::kText, text}}}; }

// conversation.py: system message, then every turn, each with the separator.
TEST(InternVlConversation, TurnsEndAsTheOriginalsCodeEndsThem) {
  const TemplateMessage picture{"user", {{TemplateContent::Kind::kImage, ""}, {TemplateContent::Kind::kText, "What is it?"}}};
  const std::vector<TemplateMessage> thread = {says("system", "Be brief."), picture, says("assistant", "A fox."), says("user", "Where?")};
  EXPECT_EQ(rendered("internvl2_5", thread),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n<IMG_CONTEXT>\nWhat is it?<|im_end|>\n"
            "<|im_start|>assistant\nA fox.<|im_end|>\n<|im_start|>user\nWhere?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(rendered("Hermes-2", thread),
            "<|im_start|>system\nBe brief.<|im_end|><|im_start|>user\n<IMG_CONTEXT>\nWhat is it?<|im_end|>"
            "<|im_start|>assistant\nA fox.<|im_end|><|im_start|>user\nWhere?<|im_end|><|im_start|>assistant\n");
}

TEST(InternVlConversation, AThreadWithoutASystemMessageGetsTheModels) {
  EXPECT_EQ(rendered("internlm2-chat", {says("user", "Hi")}),
            "<|im_start|>system\n你是由上海人工智能实验室联合商汤科技开发的书生多模态大模型，英文名叫InternVL, "
            "是一个有用无害的人工智能助手。<|im_end|><|im_start|>user\nHi<|im_end|><|im_start|>assistant\n");
  EXPECT_EQ(internvl_chat_template("phi3-chat"), "");
}

}  // namespace
}  // namespace winnow::internvl_test
