#include "app/programs/cli/document_passwords.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <optional>

#include "app/ground/process/open_file.h"
#include "app/programs/cli/console_output.h"

namespace winnow::cli {
namespace {

constexpr std::size_t kMostPasswordBytes = 1024;
constexpr int kMostTries = 3;

std::string& password_of_file() {
  static std::string password;
  return password;
}

// The terminal that the program was started from, whatever its standard input is; without an echo while this lives.
class QuietTerminal {
 public:
  QuietTerminal() : terminal_(::open("/dev/tty", O_RDWR | O_CLOEXEC)) {
    quiet_ = terminal_ && ::tcgetattr(terminal_.descriptor(), &before_) == 0;
    if (!quiet_) return;
    termios quiet = before_;
    // Ctrl+C is a letter, too: it must not end the program while nothing is echoed.
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
    quiet.c_cc[VMIN] = 1;
    quiet.c_cc[VTIME] = 0;
    quiet_ = ::tcsetattr(terminal_.descriptor(), TCSAFLUSH, &quiet) == 0;
  }
  ~QuietTerminal() {
    if (quiet_) ::tcsetattr(terminal_.descriptor(), TCSAFLUSH, &before_);
  }
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;

  explicit operator bool() const { return quiet_; }
  void say(const std::string& text) const { [[maybe_unused]] const auto done = ::write(terminal_.descriptor(), text.data(), text.size()); }

  // A line as it is typed; nullopt: Ctrl+C or Ctrl+D, or the terminal is gone.
  std::optional<std::string> line() const {
    constexpr char kCtrlC = 3, kCtrlD = 4, kBackspace = 8, kCtrlU = 21, kDelete = 127;
    std::string typed;
    char letter = 0;
    while (::read(terminal_.descriptor(), &letter, 1) == 1 && letter != kCtrlC && letter != kCtrlD) {
      if (letter == '\n' || letter == '\r') return typed;
      if (letter == kCtrlU) typed.clear();
      if (letter == kBackspace || letter == kDelete) {
        while (!typed.empty() && (static_cast<unsigned char>(typed.back()) & 0xc0) == 0x80) typed.pop_back();
        if (!typed.empty()) typed.pop_back();
      } else if (static_cast<unsigned char>(letter) >= ' ' && typed.size() < kMostPasswordBytes) {
        typed += letter;
      }
    }
    return std::nullopt;
  }

 private:
  const app::OpenFile terminal_;
  termios before_{};
  bool quiet_ = false;
};

std::string read_password(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  if (!in) throw CLI::ValidationError("--password-file", "cannot be read: " + file);
  std::getline(in, line);
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty() || line.size() > kMostPasswordBytes)
    throw CLI::ValidationError("--password-file", "its first line must be the password, of at most 1024 bytes: " + file);
  return line;
}

}  // namespace

app::Passwords& document_passwords() {
  static app::Passwords passwords;
  return passwords;
}

void add_password_option(CLI::App& command) {
  command.add_option_function<std::string>(
      "--password-file", [](const std::string& file) { password_of_file() = read_password(file); },
      "file whose first line is the password of encrypted documents; default: asked for on the terminal");
}

void unlock_document(const std::string& path) {
  if (!password_of_file().empty()) document_passwords().set({path, password_of_file()});
}

bool enter_password(Error& error) {
  static std::map<std::string, int> tries;
  if (error.code != ErrorCode::kPasswordNeeded) return false;
  const std::string known = document_passwords().of(error.subject);
  if (!password_of_file().empty() && known.empty()) {  // of a cache: nobody has named the document
    unlock_document(error.subject);
    return true;
  }
  if (tries[error.subject]++ < kMostTries) {
    const QuietTerminal terminal;
    if (terminal) {
      if (!known.empty()) terminal.say("This is not its password.\n");
      terminal.say("Password of " + printable_line(error.subject) + ": ");
      const std::optional<std::string> typed = terminal.line();
      terminal.say("\n");
      if (typed && !typed->empty()) {
        document_passwords().set({error.subject, *typed});
        return true;
      }
    }
  }
  error.reason += ": --password-file FILE gives it";
  return false;
}

}  // namespace winnow::cli
