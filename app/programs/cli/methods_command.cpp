#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/ground/recipes/method_texts.h"
#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "engine/api/engine.h"

namespace winnow::cli {
namespace {

std::string joined_or_nothing(const std::vector<std::string>& words) { return words.empty() ? "nothing" : joined_words(words); }

// Options that exist only beside another's value follow that value: "with event=clips: clip=8".
std::vector<std::string> option_texts(const MethodInfo& method) {
  std::vector<std::string> texts;
  for (const OptionInfo& option : method.options) {
    texts.push_back(option_text(option));
    for (std::size_t word = 1; word < option.words.size(); ++word) {
      for (const OptionInfo& other : method_options(method.name, {{option.name, option.words[word]}})) {
        if (std::find(method.options.begin(), method.options.end(), other) != method.options.end()) continue;
        texts.push_back("with " + option.name + "=" + option.words[word] + ": " + option_text(other));
      }
    }
  }
  return texts;
}

// By name, those too that exist only beside another's value.
nlohmann::ordered_json option_help(const MethodInfo& method) {
  nlohmann::ordered_json help = nlohmann::ordered_json::object();
  const auto add = [&help](const OptionInfo& option) {
    const app::OptionText* text = app::optionText(option.name);
    help[option.name] = text != nullptr ? text->help : "";
  };
  for (const OptionInfo& option : method.options) {
    add(option);
    for (const std::string& word : option.words) std::ranges::for_each(method_options(method.name, {{option.name, word}}), add);
  }
  return help;
}

ExitStatus run_methods(OutputFormat format) {
  const std::vector<MethodInfo> methods = list_methods();
  if (format == OutputFormat::kJson) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const MethodInfo& method : methods) {
      const app::MethodText* text = app::methodText(method.name);
      list.push_back({{"name", method.name},
                      {"title", method.title},
                      {"idea", text->idea},
                      {"purpose", text->purpose},
                      {"caution", text->caution},
                      {"source", method.source},
                      {"phase", phase_entry(method.phase).word},
                      {"query_aware", method.query_aware},
                      {"merges", method.merges},
                      {"needs", method.needs},
                      {"options", option_texts(method)},
                      {"option_help", option_help(method)}});
    }
    print_out("%s\n", json_line(list, 2).c_str());
    return ExitStatus::kAnswered;
  }
  for (const MethodInfo& method : methods) {
    const app::MethodText* text = app::methodText(method.name);
    print_out("%-17s %s\n", method.name.c_str(), method.title.c_str());
    print_out("%-17s %s\n", "", text->purpose);
    print_out("%-17s limits: %s\n", "", text->caution);
    print_out("%-17s source: %s\n", "", method.source.c_str());
    print_out("%-17s phase %s, %s, %s, needs %s\n", "", phase_entry(method.phase).word,
              method.query_aware ? "guided by the question" : "not guided by the question alone", method.merges ? "merges" : "evicts",
              joined_or_nothing(method.needs).c_str());
    print_out("%-17s options: %s\n", "", joined_or_nothing(option_texts(method)).c_str());
  }
  print_out("\nparts that you can exchange (--allocator, --scorer, --reducer, --scope, --granularity)\n");
  for (const PartInfo& part : list_parts()) {
    print_out("%-12s %-20s %s\n", part.kind.c_str(), part.name.c_str(), joined_or_nothing(part.presets).c_str());
  }
  return ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_methods(CLI::App& command) {
  const auto options = std::make_shared<CommandOptions>();
  add_json_option(command, *options, "print a JSON array");
  return [options] { return run_methods(options->format); };
}

}  // namespace winnow::cli
