// A model's chat template: a conversation to the text that the model was trained on.
//
// Used by engine/generation, which has the text from the model's package (model_files/model_package.h).
//
// The result keeps apart what the template wrote and what came out of a message, byte by byte, through joining, cutting and replacing:
// special tokens count only in the first (Tokenizer::encode with kParse), so that <|im_end|> typed by a user stays text.
//
// The language is a subset of Jinja as transformers sets it up (trim_blocks, lstrip_blocks); what is not in it is refused by name, never
// skipped. Case mapping knows ASCII letters. strftime_now writes the conversation's day, at 0 o'clock and in English, never the clock's:
// the same chat reads the same tomorrow. Without a day it is not defined: a template that asks whether it is there goes on without (Llama
// 3.2 then writes the date it was trained with), one that calls it all the same is refused.
// Limits: 64 KiB of template, 64 levels, 10^5 steps, 8 MiB of text, 200 ms.
// Errors: Exception; kUnsupportedModel (no template, a template that is wrong or outside the subset), kLimitExceeded, kDamagedFile,
// kInvalidArgument (the template refused this conversation by raise_exception). Threads: confined to one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

struct TemplateContent {
  enum class Kind : int { kText = 1, kImage = 2, kVideo = 3 };
  Kind kind = Kind::kText;
  std::string text;  // kText only; UTF-8
};

struct TemplateMessage {
  std::string role;  // "system", "user", "assistant"
  std::vector<TemplateContent> content{};
  std::string thought{};  // reasoning_content: what the model thought before an answer; empty: nothing
};

struct TemplatePiece {
  std::string text;
  bool from_user = false;   // came out of a message: special tokens in it are text
  std::size_t message = 0;  // of which one, where it did
};

enum class AddGenerationPrompt : int { kYes = 1, kNo = 2 };

// The variables of a template beside the messages.
struct TemplateVariables {
  AddGenerationPrompt prompt = AddGenerationPrompt::kYes;
  std::optional<bool> thinks{};  // enable_thinking, and `thinking` as Granite and DeepSeek name it; nothing: not defined
  std::string day{};             // of strftime_now: "2026-11-27"; empty: not defined
};

class ChatTemplate {
 public:
  // source: the template; bos, eos: texts of the tokens, may be empty. owner: the model, which errors of the template name, those of
  // render(), too; empty: they have the subject "chat template".
  explicit ChatTemplate(std::string_view source, std::string bos = "", std::string eos = "", std::string owner = "");
  ~ChatTemplate();
  ChatTemplate(const ChatTemplate&) = delete;
  ChatTemplate& operator=(const ChatTemplate&) = delete;

  // Neighbours of one origin are joined, empty pieces left out. A message that holds nothing but text is one text, and a list of parts for
  // templates that write only those (tried once).
  std::vector<TemplatePiece> render(const std::vector<TemplateMessage>& messages, const TemplateVariables& variables) const;

  // True if it writes what the system says before the first question. Others refuse such a message, or leave it out.
  bool has_system_prompt() const { return has_system_prompt_; }
  // True if what follows a question depends on whether the model shall think.
  bool has_thinking_switch() const;

 private:
  struct Program;
  std::unique_ptr<const Program> program_;
  bool has_system_prompt_ = false;
  std::string owner_;
};

}  // namespace winnow
