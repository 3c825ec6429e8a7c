#include "engine/text/chat_template.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "engine/base/file_bytes.h"
#include "engine/base/json_document.h"
#include "engine/text/template_interpreter.h"
#include "engine/text/template_parser.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

using chat::Text;
using chat::Value;

constexpr char kSubject[] = "chat template";                                 // of what lexer, parser and interpreter throw
constexpr JsonLimits kConfigLimits{std::uint64_t{16} << 20, 64, 1'000'000};  // tokenizer_config.json lists every added token

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::optional<std::string> template_of(const std::string& path) {
  if (!exists(path)) return std::nullopt;
  const Json document = load_json(path, kConfigLimits);
  const JsonObject fields(document, path);
  if (!fields.has("chat_template")) return std::nullopt;
  const Json& value = fields.value("chat_template");
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    for (const Json& entry : value) {
      if (entry.is_object() && entry.value("name", Json()) == "default" && entry.contains("template") && entry["template"].is_string()) {
        return entry["template"].get<std::string>();
      }
    }
  }
  throw Exception(ErrorCode::kDamagedFile, path, "chat_template is neither text nor a list with a default");
}

// A token of tokenizer_config.json: text, or an object with its content.
std::string special_token(const std::string& path, const char* key) {
  if (!exists(path)) return "";
  const Json document = load_json(path, kConfigLimits);
  const auto found = document.is_object() ? document.find(key) : document.end();
  if (found == document.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_object() && found->contains("content") && (*found)["content"].is_string()) return (*found)["content"].get<std::string>();
  return "";
}

std::string find_template(const std::string& folder, std::string_view fallback) {
  if (const std::string path = folder + "/chat_template.jinja"; exists(path)) return read_file_bytes(path, chat::kMaxTemplateBytes);
  for (const char* name : {"chat_template.json", "processor_config.json", "tokenizer_config.json"}) {
    if (auto found = template_of(folder + "/" + name)) return *std::move(found);
  }
  if (!fallback.empty()) return std::string(fallback);
  throw Exception(ErrorCode::kUnsupportedModel, folder, "has no chat template, and none is known for this model family");
}

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

// Whether the template looks into a message's content at all; one that was written for text only concatenates it.
bool reads_content_parts(std::string_view source) {
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

// An error of the template is the model folder's.
template <class Work>
auto in_folder(const std::string& folder, Work work) {
  try {
    return work();
  } catch (const Exception& exception) {
    const Error& error = exception.error();
    if (folder.empty() || error.subject != kSubject) throw;
    throw Exception(error.code, folder, std::string(kSubject) + ": " + error.reason);
  }
}

}  // namespace

struct ChatTemplate::Program {
  chat::Block block;
  std::string bos;
  std::string eos;
  bool content_parts = true;
};

ChatTemplate::ChatTemplate(std::string_view source, std::string bos, std::string eos) {
  if (!utf8::is_valid(source)) throw Exception(ErrorCode::kDamagedFile, "chat template", "is not UTF-8");
  auto program = std::make_unique<Program>();
  program->block = chat::parse_template(source);
  program->bos = std::move(bos);
  program->eos = std::move(eos);
  program->content_parts = reads_content_parts(source);
  program_ = std::move(program);
}

ChatTemplate::~ChatTemplate() = default;

std::unique_ptr<ChatTemplate> ChatTemplate::load(const std::string& folder, std::string_view fallback) {
  const std::string tokenizer_config = folder + "/tokenizer_config.json";
  return in_folder(folder, [&] {
    auto loaded = std::make_unique<ChatTemplate>(find_template(folder, fallback), special_token(tokenizer_config, "bos_token"),
                                                 special_token(tokenizer_config, "eos_token"));
    loaded->folder_ = folder;
    return loaded;
  });
}

std::vector<TemplatePiece> ChatTemplate::render(const std::vector<TemplateMessage>& messages, AddGenerationPrompt prompt) const {
  std::vector<Value> list;
  for (const TemplateMessage& message : messages) {
    const bool text_only = std::all_of(message.content.begin(), message.content.end(),
                                       [](const TemplateContent& c) { return c.kind == TemplateContent::Kind::kText; });
    list.push_back(message_value(message, text_only && !program_->content_parts));
  }
  std::vector<std::pair<std::string, Value>> variables;
  variables.emplace_back("messages", chat::make_list(std::move(list)));
  variables.emplace_back("add_generation_prompt", Value::boolean(prompt == AddGenerationPrompt::kYes));
  variables.emplace_back("bos_token", Value::literal(program_->bos));
  variables.emplace_back("eos_token", Value::literal(program_->eos));
  variables.emplace_back("tools", Value::none());
  variables.emplace_back("documents", Value::none());
  return in_folder(folder_, [&] {
    chat::Interpreter interpreter(std::move(variables), {});
    return pieces_of(interpreter.run(program_->block));
  });
}

}  // namespace winnow
