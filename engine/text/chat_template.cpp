#include "engine/text/chat_template.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/text/template_interpreter.h"
#include "engine/text/template_parser.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

using chat::Text;
using chat::Value;

constexpr char kSubject[] = "chat template";  // of what lexer, parser and interpreter throw
Value from_message(const std::string& text) { return Value::text(Text(utf8::is_valid(text) ? text : utf8::repair(text), true)); }

Value message_value(const TemplateMessage& message, bool content_as_text) {
  std::vector<std::pair<Value, Value>> fields;
  fields.emplace_back(Value::literal("role"), Value::literal(message.role));
  if (content_as_text) {
    std::string text;
    for (const TemplateContent& content : message.content) text += content.text;
    fields.emplace_back(Value::literal("content"), from_message(text));
    return chat::make_dict(std::move(fields));
  }
  std::vector<Value> contents;
  for (const TemplateContent& content : message.content) {
    const bool text = content.kind == TemplateContent::Kind::kText;
    const char* type = text ? "text" : content.kind == TemplateContent::Kind::kImage ? "image" : "video";
    std::vector<std::pair<Value, Value>> entry = {{Value::literal("type"), Value::literal(type)}};
    if (text) entry.emplace_back(Value::literal("text"), from_message(content.text));
    contents.push_back(chat::make_dict(std::move(entry)));
  }
  fields.emplace_back(Value::literal("content"), chat::make_list(std::move(contents)));
  return chat::make_dict(std::move(fields));
}

// Whether the template may look into a message's content; one that was written for text only concatenates it.
bool may_read_content_parts(std::string_view source) {
  for (const char* sign : {"type", "'text'", "\"text\"", ".text"}) {
    if (source.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<TemplatePiece> pieces_of(const Text& text) {
  std::vector<TemplatePiece> pieces;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && text.from_user(end) == text.from_user(begin)) ++end;
    pieces.push_back({text.bytes().substr(begin, end - begin), text.from_user(begin)});
    begin = end;
  }
  return pieces;
}

// An error of the template is its model's.
template <class Work>
auto of_owner(const std::string& owner, Work work) {
  try {
    return work();
  } catch (const Exception& exception) {
    const Error& error = exception.error();
    if (owner.empty() || error.subject != kSubject) throw;
    throw Exception(error.code, owner, std::string(kSubject) + ": " + error.reason);
  }
}

}  // namespace

struct ChatTemplate::Program {
  chat::Block block;
  std::string bos;
  std::string eos;
  bool content_parts = true;

  Text run(std::vector<Value> messages, AddGenerationPrompt prompt) const {
    std::vector<std::pair<std::string, Value>> variables;
    variables.emplace_back("messages", chat::make_list(std::move(messages)));
    variables.emplace_back("add_generation_prompt", Value::boolean(prompt == AddGenerationPrompt::kYes));
    variables.emplace_back("bos_token", Value::literal(bos));
    variables.emplace_back("eos_token", Value::literal(eos));
    variables.emplace_back("tools", Value::none());
    variables.emplace_back("documents", Value::none());
    chat::Interpreter interpreter(std::move(variables), {});
    return interpreter.run(block);
  }

  // Many templates name "type" for their tools only, and join texts; a list of parts would be an error to them, or worse, its Python text.
  bool needs_content_parts() const { return !writes(true) && writes(false); }

 private:
  // Whether a question comes out of it that it is given as one text, or as a list of parts.
  bool writes(bool content_as_text) const {
    constexpr std::string_view kProbe = "Hello, probe";
    try {
      const TemplateMessage message{"user", {{TemplateContent::Kind::kText, std::string(kProbe)}}};
      return run({message_value(message, content_as_text)}, AddGenerationPrompt::kNo).bytes().find(kProbe) != std::string::npos;
    } catch (const Exception&) {
      return false;  // what is wrong shows when a conversation is rendered
    }
  }
};

ChatTemplate::ChatTemplate(std::string_view source, std::string bos, std::string eos, std::string owner) : owner_(std::move(owner)) {
  auto program = std::make_unique<Program>();
  program->block = of_owner(owner_, [&] {
    if (!utf8::is_valid(source)) throw Exception(ErrorCode::kDamagedFile, kSubject, "is not UTF-8");
    return chat::parse_template(source);
  });
  program->bos = std::move(bos);
  program->eos = std::move(eos);
  program->content_parts = may_read_content_parts(source) && program->needs_content_parts();
  program_ = std::move(program);
}

ChatTemplate::~ChatTemplate() = default;

std::vector<TemplatePiece> ChatTemplate::render(const std::vector<TemplateMessage>& messages, AddGenerationPrompt prompt) const {
  std::vector<Value> list;
  for (const TemplateMessage& message : messages) {
    const bool text_only = std::all_of(message.content.begin(), message.content.end(),
                                       [](const TemplateContent& c) { return c.kind == TemplateContent::Kind::kText; });
    list.push_back(message_value(message, text_only && !program_->content_parts));
  }
  return of_owner(owner_, [&] { return pieces_of(program_->run(std::move(list), prompt)); });
}

}  // namespace winnow
