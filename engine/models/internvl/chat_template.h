// The chat templates of InternVL that stand in the program. Used by internvl.h and original_config.h.
#pragma once

#include <string>
#include <string_view>

namespace winnow {

// The template for folders in transformers' layout that have none, as they are published.
inline constexpr std::string_view kInternVlTemplate =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n'}}{% if message['content'] is string %}"
    "{{ message['content'] }}{% else %}{% for content in message['content'] %}{% if content['type'] == 'image' %}"
    "{{ '<IMG_CONTEXT>\n' }}{% elif content['type'] == 'video' %}{{ '<video>\n' }}{% elif content['type'] == 'text' %}"
    "{{ content['text'] }}{% endif %}{% endfor %}{% endif %}{{'<|im_end|>\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{'<|im_start|>assistant\n' }}{% endif %}";

// The template that the original models' own code writes (conversation.py of their folders, get_prompt() of style MPT) under the name that
// config.json calls `template`: a system message where the thread has none, every turn with its end. Empty: a name that is not ChatML, or
// unknown.
std::string internvl_chat_template(std::string_view name);

}  // namespace winnow
