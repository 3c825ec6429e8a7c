#include "engine/text/chat_template.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/text/template/template_date.h"
#include "engine/text/template/template_interpreter.h"
#include "engine/text/template/template_parser.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

using chat::Text;
using chat::Value;

constexpr char kSubject[] = "chat template";  // of what lexer, parser and interpreter throw
constexpr std::string_view kAnyDay = "2000-01-01";

Value written_by(chat::Writer writer, const std::string& text) {
  return Value::text(Text(utf8::is_valid(text) ? text : utf8::repair(text), writer));
}

// number: of the message in its conversation, from 0.
Value message_value(const TemplateMessage& message, std::size_t number, bool content_as_text) {
  const auto writer = static_cast<chat::Writer>(std::min<std::size_t>(number + 1, chat::kLastWriter));
  const auto from_message = [&](const std::string& text) { return written_by(writer, text); };
  std::vector<std::pair<Value, Value>> fields;
  fields.emplace_back(Value::literal("role"), Value::literal(message.role));
  if (!message.thought.empty()) fields.emplace_back(Value::literal("reasoning_content"), from_message(message.thought));
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

// True if the template may look into a message's content; one that was written for text only concatenates it.
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
    const chat::Writer writer = text.writer(begin);
    while (end < text.size() && text.writer(end) == writer) ++end;
    const bool from_user = writer != chat::kTemplate;
    pieces.push_back({text.bytes().substr(begin, end - begin), from_user, from_user ? writer - std::size_t{1} : 0});
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

  Text run(std::vector<Value> messages, const TemplateVariables& given) const {
    std::vector<std::pair<std::string, Value>> variables;
    variables.emplace_back("messages", chat::make_list(std::move(messages)));
    variables.emplace_back("add_generation_prompt", Value::boolean(given.prompt == AddGenerationPrompt::kYes));
    if (given.thinks) {
      variables.emplace_back("enable_thinking", Value::boolean(*given.thinks));
      variables.emplace_back("thinking", Value::boolean(*given.thinks));
    }
    if (!given.day.empty()) {
      auto day = std::make_shared<const Value>(Value::literal(given.day));
      variables.emplace_back("strftime_now", Value::Data(chat::Callable{"strftime_now", std::move(day)}));
    }
    variables.emplace_back("bos_token", Value::literal(bos));
    variables.emplace_back("eos_token", Value::literal(eos));
    variables.emplace_back("tools", Value::none());
    variables.emplace_back("documents", Value::none());
    chat::Interpreter interpreter(std::move(variables), {});
    return interpreter.run(block);
  }

  Text render(const std::vector<TemplateMessage>& messages, const TemplateVariables& given) const {
    std::vector<Value> list;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const bool text_only = std::all_of(messages[i].content.begin(), messages[i].content.end(),
                                         [](const TemplateContent& c) { return c.kind == TemplateContent::Kind::kText; });
      list.push_back(message_value(messages[i], i, text_only && !content_parts));
    }
    return run(std::move(list), given);
  }

  // The rendering of a made-up conversation; nothing if the template refuses it: what is wrong with it shows when a
  // conversation is rendered.
  std::optional<std::string> probe(const std::vector<TemplateMessage>& messages, std::optional<bool> thinks) const {
    try {
      return render(messages, {AddGenerationPrompt::kYes, thinks, std::string(kAnyDay)}).bytes();
    } catch (const Exception&) {
      return std::nullopt;
    }
  }
};

namespace {

constexpr std::string_view kProbeQuestion = "Hello, probe";
constexpr std::string_view kProbeSystem = "Probe system";

TemplateMessage probe_message(const char* role, std::string_view text) {
  return {role, {{TemplateContent::Kind::kText, std::string(text)}}};
}

bool has(const std::optional<std::string>& text, std::string_view part) { return text && text->find(part) != std::string::npos; }

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source, std::string bos, std::string eos, std::string owner) : owner_(std::move(owner)) {
  auto program = std::make_unique<Program>();
  program->block = of_owner(owner_, [&] {
    if (!utf8::is_valid(source)) throw Exception(ErrorCode::kDamagedFile, kSubject, "is not UTF-8");
    return chat::parse_template(source);
  });
  program->bos = std::move(bos);
  program->eos = std::move(eos);
  // Many templates name "type" for their tools only, and join texts; a list of parts would be an error to them, or worse, its Python text.
  program->content_parts = false;
  const auto writes_question = [&] { return has(program->probe({probe_message("user", kProbeQuestion)}, std::nullopt), kProbeQuestion); };
  if (may_read_content_parts(source) && !writes_question()) {
    program->content_parts = true;
    program->content_parts = writes_question();
  }
  const auto text = program->probe({probe_message("system", kProbeSystem), probe_message("user", kProbeQuestion)}, std::nullopt);
  has_system_prompt_ = has(text, kProbeSystem) && has(text, kProbeQuestion);
  program_ = std::move(program);
}

ChatTemplate::~ChatTemplate() = default;

std::vector<TemplatePiece> ChatTemplate::render(const std::vector<TemplateMessage>& messages, const TemplateVariables& variables) const {
  if (!variables.day.empty() && !chat::is_day(variables.day))
    throw Exception(ErrorCode::kInvalidArgument, "", "the conversation's day must be like 2026-11-27, not \"" + variables.day + "\"");
  return of_owner(owner_, [&] { return pieces_of(program_->render(messages, variables)); });
}

bool ChatTemplate::has_thinking_switch() const {
  const std::vector<TemplateMessage> question{probe_message("user", kProbeQuestion)};
  return program_->probe(question, true) != program_->probe(question, false);
}

}  // namespace winnow
