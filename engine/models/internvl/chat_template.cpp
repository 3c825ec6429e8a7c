#include "engine/models/internvl/chat_template.h"

#include <algorithm>
#include <array>

namespace winnow {
namespace {

struct Conversation {
  std::string_view name;
  std::string_view system;
  std::string_view separator;  // after every turn
};

constexpr std::string_view kSenseTime =
    "你是由上海人工智能实验室联合商汤科技开发的书生多模态大模型，英文名叫InternVL, 是一个有用无害的人工智能助手。";
constexpr std::string_view kWanxiang =
    "你是书生·万象，英文名是InternVL，是由上海人工智能实验室、清华大学及多家合作单位联合开发的多模态大语言模型。";

constexpr std::array<Conversation, 3> kConversations = {{
    {"internvl2_5", kWanxiang, "<|im_end|>\\n"},
    {"internlm2-chat", kSenseTime, "<|im_end|>"},
    {"Hermes-2", kSenseTime, "<|im_end|>"},
}};

}  // namespace

std::string internvl_chat_template(std::string_view name) {
  const auto* const found = std::ranges::find(kConversations, name, &Conversation::name);
  if (found == kConversations.end()) return {};
  const std::string end = "{{ '" + std::string(found->separator) + "' }}";
  std::string text = "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}{{ '<|im_start|>system\\n";
  text.append(found->system).append("' }}").append(end);
  text +=
      "{% endif %}{{ '<|im_start|>' + message['role'] + '\\n' }}{% if message['content'] is string %}{{ message['content'] }}"
      "{% else %}{% for content in message['content'] %}{% if content['type'] == 'image' %}{{ '<IMG_CONTEXT>\\n' }}"
      "{% elif content['type'] == 'video' %}{{ '<video>\\n' }}{% elif content['type'] == 'text' %}{{ content['text'] }}{% endif %}"
      "{% endfor %}{% endif %}";
  text.append(end).append("{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}");
  return text;
}

}  // namespace winnow
