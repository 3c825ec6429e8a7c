// The chat templates that stand in the program, for folders and files that have none: templates/<name>.jinja, to the byte.
//
// Used by the families and by the kinds of projectors. CMake puts the files into family_templates.cpp (CMakeLists.txt names them). Threads:
// any.
//
// gemma3              google's folders of Gemma 3
// gemma4              google's folders, without tools: media where they stand in the message, thoughts of earlier answers left out, and an
//                     empty thought written for the answer unless thinking is asked for
// glm41v              zai-org/GLM-4.1V-9B-Thinking: media where they stand in the message; it thinks whatever it is told
// glm46v              zai-org/GLM-4.5V and GLM-4.6V-Flash, without tools: thoughts before the last question left out, `/nothink` behind
//                     questions and a closed thought where enable_thinking is false
// internvl            OpenGVLab's folders in transformers' layout; internvl_gguf: OpenGVLab/InternVL3-1B-hf
// lfm2_vl             the dialogue of LiquidAI's folders, without tools
// llava               Vicuna's, as llava-hf/llava-1.5-7b-hf has it by now, for the Vicunas of 1.6, too: images first, then text
//                     (older folders have it on their model card only)
// llava_chatml        llava-hf/llava-v1.6-34b-hf; llava_mistral: llava-v1.6-mistral-7b-hf
// llava_onevision     llava-hf/llava-onevision-qwen2-0.5b-ov-hf: images first, then videos, then text
// llava_repository    the conversation qwen_1_5 of LLaVA-NeXT's own code (conversation.py)
// minicpmv            openbmb/MiniCPM-V-4.6, without tools: a message's parts on lines of their own, thoughts before the last question left
//                     out; unless enable_thinking is true, the answer's thought is closed at once
// mistral3            mistralai/Mistral-Small-3.1-24B-Instruct-2503 without its system text, which speaks of another program
// qwen2_vl            Qwen/Qwen2-VL-2B-Instruct and Qwen2.5-VL-3B-Instruct: media where they stand in the message
// qwen3_vl            Qwen/Qwen3-VL-4B-Instruct, without tools: media where they stand in the message, no system prompt of its own
// qwen3_5             Qwen/Qwen3.5-4B, without tools: thoughts before the last question left out, `<think>` opened for the answer, or
// closed
//                     at once where enable_thinking is false
// smolvlm             HuggingFaceTB/SmolVLM-Instruct, SmolVLM2
// smolvlm_video       transformers' DEFAULT_CHAT_TEMPLATE (processing_smolvlm.py), because the published one writes no videos; `<video>`,
//                     which no vocabulary has, is kVideoMark (vision_language_model.h)
#pragma once

#include <string_view>

namespace winnow {

// The result has static storage. name: one of the above.
std::string_view family_template(std::string_view name);

}  // namespace winnow
