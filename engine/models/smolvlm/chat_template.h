// The chat templates of SmolVLM that stand in the program. Used by smolvlm.h.
#pragma once

#include <string_view>

namespace winnow {

// For threads with a video, whatever the folder has: transformers' DEFAULT_CHAT_TEMPLATE (processing_smolvlm.py), because the published one
// writes no videos. `<video>`, which no vocabulary has, is kVideoMark (vision_language_model.h).
inline constexpr std::string_view kSmolVlmVideoTemplate =
    "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}{% if message['content'][0]['type'] == 'image' %}{{':'}}"
    "{% else %}{{': '}}{% endif %}{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}"
    "{% elif line['type'] == 'image' %}{{ '<image>' }}{% elif line['type'] == 'video' %}{{ '\xEF\xB7\x91' }}{% endif %}{% endfor %}"
    "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

// For folders that have none (HuggingFaceTB/SmolVLM-Instruct, SmolVLM2): the same without videos.
inline constexpr std::string_view kSmolVlmTemplate =
    "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}{% if message['content'][0]['type'] == 'image' %}{{':'}}"
    "{% else %}{{': '}}{% endif %}{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}"
    "{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

}  // namespace winnow
