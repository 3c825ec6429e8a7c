// The folders of InternVL 2, 2.5 and 3 with code of their own (InternVLChatModel, trust_remote_code), read without that code.
//
// Read by internvl.h. What their Python does with pictures and prompts stands in modeling_internvl_chat.py, conversation.py and the loading
// code of their model cards, and is done here: tiles as config.json asks for them, Pillow's bicubic filter, ImageNet's mean and deviation,
// the conversation that `template` names whatever the tokenizer says. Defaults are those of their configuration classes. Refused by name:
// other language models than InternLM2, Llama and Qwen2 (Phi-3), conversations that are not ChatML, ps_version v1, padded squares,
// adapters. Errors: as internvl_config.h. No torch. Threads: plain function.
#pragma once

#include <string>

#include "engine/models/internvl/internvl_config.h"

namespace winnow {

// file: where `config` came from, for errors. The folder's tiles, names and template are in it, too.
InternVlFolder parse_internvl_chat_config(const Json& config, const std::string& file);

InternVlFolder read_internvl_chat(const ModelPackage& package);

}  // namespace winnow
