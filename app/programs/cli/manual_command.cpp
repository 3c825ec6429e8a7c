#include <string>
#include <utility>

#include "app/programs/cli/command_description.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"

namespace winnow::cli {
namespace {

// Text as man sets it: a hyphen that is typed, a backslash, a list of words that may be broken, a first letter that would be a request.
std::string roff(const std::string& text) {
  std::string set = !text.empty() && (text.front() == '.' || text.front() == '\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '-') {
      set += "\\-";
    } else if (c == '\\') {
      set += "\\e";
    } else if (c == ',') {
      set += ",\\:";
    } else {
      set += c == '\n' ? ' ' : c;
    }
  }
  return set;
}

std::string described(const OptionDescription& option) {
  std::string head;
  for (const std::string& name : option.names) head.append(head.empty() ? "\\fB" : "\\fR, \\fB").append(roff(name));
  head += "\\fR";
  if (!option.value.empty()) head += " \\fI" + roff(option.value) + "\\fR";
  return ".TP\n" + head + "\n" + roff(option.help) + "\n";
}

std::string manual_page(const CLI::App& program) {
  std::string page = ".TH WINNOW\\-CLI 1 \"\" \"Winnow " WINNOW_VERSION "\" \"User commands\"\n.SH NAME\nwinnow\\-cli \\- ";
  page +=
      "ask questions about images, videos and texts on this machine\n.SH SYNOPSIS\n.B winnow\\-cli\n\\fIcommand\\fR [\\fIoptions\\fR]\n";
  page += ".SH DESCRIPTION\n" + roff(program.get_description()) + ".\n.SH OPTIONS\n";
  for (const OptionDescription& option : describe_command(program).options) page += described(option);
  page += ".SH COMMANDS\n";
  for (const CommandDescription& command : describe_commands(program)) {
    page += ".SS " + roff(command.name) + "\n" + roff(command.help) + ".\n";
    for (const OptionDescription& argument : command.arguments) page += described(argument);
    for (const OptionDescription& option : command.options) page += described(option);
  }
  page += ".SH EXIT STATUS\n";
  const std::pair<ExitStatus, const char*> statuses[] = {{ExitStatus::kAnswered, "answered"},
                                                         {ExitStatus::kRefusedInput, "an input was refused; a sentence says which and why"},
                                                         {ExitStatus::kWrongUsage, "wrong usage"},
                                                         {ExitStatus::kEngineFailed, "memory, device or a fault of the program"},
                                                         {ExitStatus::kInterrupted, "interrupted (Ctrl+C)"},
                                                         {ExitStatus::kTerminated, "terminated"}};
  for (const auto& [status, meaning] : statuses) page += ".TP\n" + std::to_string(static_cast<int>(status)) + "\n" + meaning + "\n";
  return page + ".SH SEE ALSO\n.BR winnow (1)\n";
}

}  // namespace

RunCommand add_manual(CLI::App& command) {
  return [&program = *command.get_parent()] {
    write_out(manual_page(program));
    return ExitStatus::kAnswered;
  };
}

}  // namespace winnow::cli
