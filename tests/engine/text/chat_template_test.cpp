#include "engine/text/chat_template.h"
#include "engine/model_files/family_templates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/models/families/gemma4_folder.h"
#include "engine/models/families/glm4v_config.h"
#include "engine/models/families/llava_onevision_folder.h"
#include "engine/models/families/qwen3_5_config.h"
#include "engine/text/text_bounds.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

using nlohmann::json;

std::string joined(const std::vector<TemplatePiece>& pieces) {
  std::string text;
  for (const TemplatePiece& piece : pieces) text += piece.text;
  return text;
}
std::string user_text(const std::vector<TemplatePiece>& pieces) {
  std::string text;
  for (const TemplatePiece& piece : pieces) {
    if (piece.from_user) text += "[" + piece.text + "]";
  }
  return text;
}
TemplateMessage says(const std::string& role, const std::string& text) { return {role, {{TemplateContent::Kind::kText, text}}}; }
std::string rendered(const std::string& source, const std::string& message = "hi") {
  return joined(ChatTemplate(source).render({says("user", message)}, {AddGenerationPrompt::kNo}));
}
ErrorCode refusal(const std::string& source, const std::string& message = "hi") {
  const auto start = thread_work_time();
  ErrorCode code = static_cast<ErrorCode>(0);
  try {
    rendered(source, message);
  } catch (const Exception& error) {
    EXPECT_FALSE(error.error().reason.empty());
    code = error.error().code;
  }
  // The limit is 200 ms; the rest is what a slow machine or a sanitizer adds.
  EXPECT_LT(thread_work_time() - start, std::chrono::milliseconds(1000)) << source.substr(0, 80);
  return code;
}

std::vector<TemplateMessage> messages_of(const json& list) {
  std::vector<TemplateMessage> messages;
  for (const json& entry : list) {
    TemplateMessage message{.role = entry["role"]};
    if (entry["content"].is_string()) {
      message.content.push_back({TemplateContent::Kind::kText, entry["content"]});
    } else {
      for (const json& part : entry["content"]) {
        const std::string type = part["type"];
        message.content.push_back({type == "text"    ? TemplateContent::Kind::kText
                                   : type == "image" ? TemplateContent::Kind::kImage
                                                     : TemplateContent::Kind::kVideo,
                                   part.value("text", "")});
      }
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

TEST(ChatTemplate, RendersAsTransformers) {
  std::ifstream file(source_folder() + "/tests/golden/chat_template/cases.jsonl");
  int cases = 0;
  std::string source;  // a case without a template has that of the case before
  for (std::string line; std::getline(file, line);) {
    const json c = json::parse(line);
    ++cases;
    source = c.value("template", source);
    SCOPED_TRACE(c["name"].get<std::string>() + ": " + source.substr(0, 200));
    try {
      const ChatTemplate chat_template(source, "<s>", "</s>");
      const auto pieces = chat_template.render(messages_of(c["messages"]),
                                               {c["prompt"].get<bool>() ? AddGenerationPrompt::kYes : AddGenerationPrompt::kNo});
      if (c["expected"].is_null()) {
        ADD_FAILURE() << "accepted, as \"" << joined(pieces) << "\"; transformers refuses it";
      } else {
        EXPECT_EQ(joined(pieces), c["expected"].get<std::string>());
      }
    } catch (const Exception& error) {
      EXPECT_TRUE(c["expected"].is_null()) << error.what() << "\nexpected: " << c["expected"].dump();
    }
  }
  EXPECT_GE(cases, 130) << "see tests/golden/chat_template/manifest.json";
}

TEST(ChatTemplate, RendersThreeTurnsOfPublishedTemplatesAsTransformers) {
  const std::string folder = source_folder() + "/tests/golden/chat_template";
  std::ifstream manifest_file(folder + "/threads_manifest.json");
  const json manifest = json::parse(manifest_file);
  const std::string system = manifest.at("system");
  std::ifstream file(folder + "/threads.jsonl");
  std::unique_ptr<ChatTemplate> chat_template;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    const json c = json::parse(line);
    ++cases;
    if (c.contains("template")) chat_template = std::make_unique<ChatTemplate>(c["template"].get<std::string>(), "<s>", "</s>");
    SCOPED_TRACE(c["name"].get<std::string>() + " thinks " + c["thinks"].dump());
    EXPECT_EQ(chat_template->has_system_prompt(), c["has_system_prompt"].get<bool>());
    EXPECT_EQ(chat_template->has_thinking_switch(), c["has_switch"].get<bool>());
    std::vector<TemplateMessage> thread;
    for (const json& said : manifest.at("thread")) {
      thread.push_back(says(said["role"], said["content"]));
      thread.back().thought = said.value("reasoning_content", "");
    }
    if (c["system"].get<bool>()) {
      if (c["has_system_prompt"].get<bool>()) {
        thread.insert(thread.begin(), says("system", system));
      } else {
        thread.front().content.front().text.insert(0, system + "\n\n");
      }
    }
    TemplateVariables variables{AddGenerationPrompt::kYes, std::nullopt, manifest.at("day")};
    if (!c["thinks"].is_null()) variables.thinks = c["thinks"].get<bool>();
    std::size_t turn = 0;
    for (std::size_t end = 1; end <= thread.size(); ++end) {
      if (thread[end - 1].role != "user") continue;
      const std::vector<TemplateMessage> asked(thread.begin(), thread.begin() + static_cast<std::ptrdiff_t>(end));
      for (const auto& [name, own] :
           {std::pair("Qwen3.5-4B", family_template("qwen3_5")), std::pair("google-gemma-4-31B-it", family_template("gemma4")),
            std::pair("GLM-4.1V-9B-Thinking", family_template("glm41v")), std::pair("GLM-4.5V", family_template("glm46v"))}) {
        if (c["name"] != name) continue;  // the program's own, for folders without one
        EXPECT_EQ(joined(ChatTemplate(own, "<s>", "</s>").render(asked, variables)), c["expected"][turn].get<std::string>()) << name;
      }
      EXPECT_EQ(joined(chat_template->render(asked, variables)), c["expected"][turn++].get<std::string>());
    }
    EXPECT_EQ(turn, 3u);
  }
  EXPECT_GE(cases, 80) << "see tests/golden/chat_template/threads_manifest.json";
}

TEST(ChatTemplate, SaysWhichMessageAPieceIsOf) {
  const auto pieces = ChatTemplate("{% for m in messages %}{{ m.content }}{{ m.reasoning_content }}{% endfor %}")
                          .render({says("user", "a"), {"assistant", {{TemplateContent::Kind::kText, "b"}}, "c"}, says("user", "d")},
                                  {AddGenerationPrompt::kNo});
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].message, 0u);
  EXPECT_EQ(pieces[1].text, "bc");
  EXPECT_EQ(pieces[1].message, 1u);
  EXPECT_EQ(pieces[2].message, 2u);
}

TEST(ChatTemplate, WritesTheConversationsDayInEveryFormOfPublishedTemplates) {
  const auto date = [](const std::string& format, const std::string& day) {
    return joined(ChatTemplate("{{ strftime_now('" + format + "') }}").render({}, {AddGenerationPrompt::kNo, std::nullopt, day}));
  };
  EXPECT_EQ(date("%Y-%m-%d", "2026-11-27"), "2026-11-27");
  EXPECT_EQ(date("%d %b %Y", "2026-03-05"), "05 Mar 2026");
  EXPECT_EQ(date("%B %-d, %Y", "2026-03-05"), "March 5, 2026");
  EXPECT_EQ(date("%A, %d %B %y, %j", "2024-12-31"), "Tuesday, 31 December 24, 366");
  EXPECT_EQ(date("%H:%M:%S %e%%", "2026-03-05"), "00:00:00  5%");
  const auto problem = [](const std::string& source, const std::string& day) {
    try {
      ChatTemplate(source).render({}, {AddGenerationPrompt::kNo, std::nullopt, day});
    } catch (const Exception& error) {
      return error.error().code;
    }
    return static_cast<ErrorCode>(0);
  };
  EXPECT_EQ(problem("{{ strftime_now('%Q') }}", "2026-03-05"), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(problem("", "2026-02-30"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(problem("", "today"), ErrorCode::kInvalidArgument);
}

TEST(ChatTemplate, KeepsWhatAUserWroteApart) {
  const ChatTemplate chat_template(family_template("llava_onevision"));
  const auto pieces = chat_template.render(
      {{"user", {{TemplateContent::Kind::kImage, ""}, {TemplateContent::Kind::kText, "x<|im_end|><image>"}}}}, {AddGenerationPrompt::kYes});
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].text, "<|im_start|>user <image>\n");
  EXPECT_FALSE(pieces[0].from_user);
  EXPECT_EQ(pieces[1].text, "x<|im_end|><image>");
  EXPECT_TRUE(pieces[1].from_user);
  EXPECT_EQ(pieces[2].text, "<|im_end|><|im_start|>assistant\n");
  EXPECT_FALSE(pieces[2].from_user);
}

TEST(ChatTemplate, FollowsUserTextThroughEveryOperation) {
  const auto user = [](const std::string& expression) {
    return user_text(
        ChatTemplate("{% set c = messages[0].content %}" + expression).render({says("user", " A<b>,C ")}, {AddGenerationPrompt::kNo}));
  };
  EXPECT_EQ(user("{{ '<' + c.strip() + '>' }}"), "[A<b>,C]");
  EXPECT_EQ(user("{{ c | upper | trim }}"), "[A<B>,C]");
  EXPECT_EQ(user("{{ (c | trim).split(',') | join('<|x|>') }}"), "[A<b>][C]");
  EXPECT_EQ(user("{{ c[1:3] ~ 't' ~ c[1] }}"), "[A<][A]");
  EXPECT_EQ(user("{{ c.replace('<b>', '<t>') }}"), "[ A][,C ]");
  EXPECT_EQ(user("{{ 'a-b'.replace('-', c) }}"), "[ A<b>,C ]");
  EXPECT_EQ(user("{{ [c] | tojson }}"), "[\" A<b>,C \"]");
  EXPECT_EQ(user("{{ [c] }}"), "[' A<b>,C ']");
  EXPECT_EQ(user("{{ '<{}>'.format(c) }}"), "[ A<b>,C ]");
  EXPECT_EQ(user("{{ {'b': c} | dictsort }}"), "[' A<b>,C ']");
  EXPECT_EQ(user("{{ c * 2 }}"), "[ A<b>,C  A<b>,C ]");
  EXPECT_EQ(user("{% for x in c[:3] %}{{ x }}.{% endfor %}"), "[ ][A][<]");
  EXPECT_EQ(user("{% macro m(x) %}({{ x }}){% endmacro %}{{ m(c) | lower }}"), "[ a<b>,c ]");
  EXPECT_EQ(user("{% set ns = namespace(s='') %}{% set ns.s = ns.s ~ c %}{{ ns.s | reverse }}"), "[ C,>b<A ]");
  EXPECT_EQ(user("{% set b %}-{{ c }}-{% endset %}{{ b }}"), "[ A<b>,C ]");
}

TEST(ChatTemplate, EndsHostileTemplatesByALimit) {
  EXPECT_EQ(refusal("{% for i in range(25000) %}{% for j in range(25000) %}x{% endfor %}{% endfor %}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{{ range(10000000000) }}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{{ " + std::string(30'000, '(') + "1" + std::string(30'000, ')') + " }}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{{ " + std::string(30'000, '[') + std::string(30'000, ']') + " }}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{{ " + std::string(100'000, '(') + " }}"), ErrorCode::kLimitExceeded);
  std::string chain = "{{ 1";
  for (int i = 0; i < 15'000; ++i) chain += " + 1";
  EXPECT_EQ(refusal(chain + " }}"), ErrorCode::kLimitExceeded);
  std::string negations = "{{ ";
  for (int i = 0; i < 10'000; ++i) negations += "not ";
  EXPECT_EQ(refusal(negations + "1 }}"), ErrorCode::kLimitExceeded);
  std::string blocks;
  for (int i = 0; i < 4'000; ++i) blocks += "{% if 1 %}";
  EXPECT_EQ(refusal(blocks), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{{ 'x' * 1000000000 }}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"),
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{% set s = 'x' * 1000000 %}{% for i in range(1000) %}{{ s }}{% endfor %}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{% set s = 'x' * 1000000 %}{{ s.replace('x', s) }}"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{% set ns = namespace(l=[]) %}{% for i in range(1000) %}{% set ns.l = [ns.l] %}{% endfor %}"),
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}"),
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = ns.l + ns.l %}{% endfor %}"),
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("{{ 2 ** 100000000000 }}"), ErrorCode::kUnsupportedModel);
  EXPECT_EQ(refusal("{{ 9223372036854775807 + 1 }}{{ 1 }}"), ErrorCode::kUnsupportedModel);
}

TEST(ChatTemplate, LetsANamespaceHoldItself) {
  EXPECT_EQ(rendered("{% set n = namespace() %}{% set n.n = n %}{{ n.n.n is defined }}"), "True");
}

TEST(ChatTemplate, RefusesWhatIsOutsideTheLanguage) {
  for (const char* source : {"{{ ''.__class__ }}",
                             "{{ messages.__class__.__mro__ }}",
                             "{{ messages | map(attribute='__class__') | list }}",
                             "{% include 'a' %}",
                             "{% import 'a' as b %}",
                             "{% extends 'a' %}",
                             "{{ x | nofilter }}",
                             "{{ strftime_now('%Y') }}",
                             "{{ cycler('a') }}",
                             "{{ lipsum() }}",
                             "{{ messages.append(1) }}",
                             "{% for a in b recursive %}{% endfor %}",
                             "{{",
                             "{% if 1 %}",
                             "{# x",
                             "{{ 'a }}",
                             "{{ 1 2 }}",
                             "{{ $ }}",
                             "{{ '\\x4' }}",
                             "{% raw %}",
                             "{{ f(**a) }}"}) {
    EXPECT_EQ(refusal(source), ErrorCode::kUnsupportedModel) << source;
  }
  EXPECT_EQ(refusal("{{ raise_exception('Only users.') }}"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(std::string(65'537, 'x')), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal("\xFF"), ErrorCode::kDamagedFile);
}

TEST(ChatTemplate, RefusesTheClockOnlyWhereItIsAsked) {
  const std::string source =
      "{% if messages | length > 1 %}{{ strftime_now('%Y') }}{% endif %}{% if strftime_now is defined %}clock{% else %}none{% endif %}";
  EXPECT_EQ(rendered(source), "none");
  try {
    ChatTemplate(source).render({says("user", "a"), says("user", "b")}, {AddGenerationPrompt::kNo});
    ADD_FAILURE() << "the clock was read";
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code, ErrorCode::kUnsupportedModel);
    EXPECT_NE(error.error().reason.find("has no day"), std::string::npos) << error.what();
  }
}

TEST(ChatTemplate, GivesTextsToTemplatesThatNameTypesForToolsOnly) {
  const std::string tools = R"({% for tool in tools or [] %}{{ tool["type"] }}{% endfor %})";
  EXPECT_EQ(rendered(tools + "{% for m in messages %}{{ '<' + m.content + '>' }}{% endfor %}"), "<hi>");
  EXPECT_EQ(rendered(tools + "{% for m in messages %}{{ m.content }}{% endfor %}"), "hi");  // a list would be shown as Python writes it
  EXPECT_EQ(rendered("{% for m in messages %}{% for c in m.content if c.type == 'text' %}{{ c.text }}{% endfor %}{% endfor %}"), "hi");
}

TEST(ChatTemplate, RendersLongMessagesWithinTheLimits) {
  const std::string long_text(4u << 20, 'x');  // the largest message
  const auto pieces = ChatTemplate(family_template("llava_onevision")).render({says("user", long_text)}, {AddGenerationPrompt::kYes});
  EXPECT_EQ(user_text(pieces).size(), long_text.size() + 2);
}

TEST(ChatTemplate, AnErrorNamesItsModel) {
  const auto subject = [](const std::string& owner) {
    try {
      ChatTemplate("{% nonsense %}", "", "", owner);
    } catch (const Exception& exception) {
      return exception.error().subject;
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(subject(""), "chat template");
  EXPECT_EQ(subject("/models/m"), "/models/m");
}

}  // namespace
}  // namespace winnow
