#include <memory>
#include <string>

#include "app/programs/cli/command_description.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"

namespace winnow::cli {
namespace {

using Commands = std::vector<CommandDescription>;

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

std::vector<std::string> option_names(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(const Commands& commands) {
  std::vector<std::string> names;
  for (const CommandDescription& command : commands) names.push_back(command.name);
  return names;
}

// The words before the completed one decide: 'ask --device') words='auto cpu cuda' ;;
std::string bash_values(const CommandDescription& command) {
  std::string cases;
  for (const OptionDescription& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> before;
    for (const std::string& name : option.names) before.push_back("'" + command.name + " " + name + "'");
    const std::string then = option.choices.empty() ? "return" : "words='" + joined(option.choices, " ") + "'";
    cases.append("    ").append(joined(before, "|")).append(") ").append(then).append(" ;;\n");
  }
  return cases;
}

// If it has no words, bash completes file names.
std::string bash_script(const CommandDescription& program, const Commands& commands) {
  std::string script =
      "# bash completion of winnow-cli; written by: winnow-cli completion bash\n_winnow_cli() {\n"
      "  local word command='' words='' cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $word in\n      ";
  script += joined(command_names(commands), "|") + ") command=$word; break ;;\n    esac\n  done\n  case \"$command $prev\" in\n";
  for (const CommandDescription& command : commands) script += bash_values(command);
  script += "  esac\n  if [[ -z $words && $cur == -* ]]; then\n    case $command in\n";
  for (const CommandDescription& command : commands) {
    script += "      " + command.name + ") words='" + joined(option_names(command), " ") + "' ;;\n";
  }
  script += "      *) words='" + joined(option_names(program), " ") + "' ;;\n    esac\n  elif [[ -z $words && -z $command ]]; then\n";
  script += "    words='" + joined(command_names(commands), " ") + "'\n  fi\n";
  script += "  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n";
  return script + "complete -o default -F _winnow_cli winnow-cli\n";
}

// Within single quotes, where zsh reads a specification: brackets and colons end its parts.
std::string zsh_text(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else if (c == '\n') {
      quoted += ' ';
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted;
}

std::string zsh_option(const OptionDescription& option) {
  std::string lines;
  for (const std::string& name : option.names) {
    lines.append("        '*").append(name).append("[").append(zsh_text(option.help)).append("]");
    if (!option.value.empty()) lines += option.choices.empty() ? ":value:_files" : ":value:(" + joined(option.choices, " ") + ")";
    lines += "' \\\n";
  }
  return lines;
}

std::string zsh_script(const CommandDescription& program, const Commands& commands) {
  std::string script =
      "#compdef winnow-cli\n# zsh completion of winnow-cli; written by: winnow-cli completion zsh\n"
      "_winnow-cli() {\n  local context state state_descr line\n  typeset -A opt_args\n  local -a commands=(\n";
  for (const CommandDescription& command : commands) script += "    '" + command.name + ":" + zsh_text(command.help) + "'\n";
  script += "  )\n  _arguments -C \\\n";
  for (const OptionDescription& option : program.options) script += zsh_option(option);
  script +=
      "        '1: :->command' '*:: :->arguments'\n  case $state in\n    command) _describe command commands ;;\n"
      "    arguments)\n      case $words[1] in\n";
  for (const CommandDescription& command : commands) {
    script += "      " + command.name + ") _arguments \\\n";
    for (const OptionDescription& option : command.options) script += zsh_option(option);
    script += "        '*:file:_files' ;;\n";
  }
  return script + "      esac ;;\n  esac\n}\n_winnow-cli \"$@\"\n";
}

}  // namespace

RunCommand add_completion(CLI::App& command) {
  const auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  return [shell, &program = *command.get_parent()] {
    const auto write = *shell == "bash" ? bash_script : zsh_script;
    write_out(write(describe_command(program), describe_commands(program)));
    return ExitStatus::kAnswered;
  };
}

}  // namespace winnow::cli
