// The folders of InternVL 2, 2.5 and 3 with code of their own (InternVLChatModel, trust_remote_code), read without that code.
//
// Read by internvl.cpp. What their Python does with pictures and prompts stands in modeling_internvl_chat.py, conversation.py and the
// loading code of their model cards, and is done here: tiles as config.json asks for them, Pillow's bicubic filter, ImageNet's mean and
// deviation, the conversation that `template` names whatever the tokenizer says. Defaults are those of their configuration classes. Refused
// by name: other language models than InternLM2, Llama and Qwen2 (Phi-3), conversations that are not ChatML, ps_version v1, padded squares,
// adapters. Errors: as internvl_folder.h. No torch. Threads: plain function.
#pragma once

#include <string>
#include <string_view>

#include "engine/models/families/internvl_folder.h"

namespace winnow {

// The template that the original models' own code writes (conversation.py of their folders, get_prompt() of style MPT) under the name that
// config.json calls `template`: a system message where the thread has none, every turn with its end. Empty: a name that is not ChatML, or
// unknown.
std::string internvl_chat_template(std::string_view name);

// file: where `config` came from, for errors. The folder's tiles, names and template are in it, too.
InternVlFolder parse_internvl_chat_config(const Json& config, const std::string& file);

InternVlFolder read_internvl_chat(const ModelPackage& package);

}  // namespace winnow
