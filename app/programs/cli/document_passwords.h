// Passwords of encrypted documents as the terminal takes them: out of the file that --password-file names, or typed where somebody sits at
// the terminal, without an echo. Never out of the command line, which others on the machine can read.
//
// Used by whoever opens documents. Threads: main.
#pragma once

#include <string>

#include "app/media/files/passwords.h"
#include "engine/base/error.h"

namespace CLI {
class App;
}

namespace winnow::cli {

// The table that media_reader() and the session's engine ask.
app::Passwords& document_passwords();

// The file's first line is the password of every encrypted document of the command.
void add_password_option(CLI::App& command);
// Tells whoever reads this document the file's password, if there is one.
void unlock_document(const std::string& path);

// For a document that needs a password (kPasswordNeeded): asks for it on the terminal, at most three times for each file. True: try again.
// False: it is another error, or nobody answers; then the reason says what gives it.
bool enter_password(Error& error);

template <class Read>
auto unlocking(const Read& read) {
  while (true) {
    try {
      return read();
    } catch (const Exception& problem) {
      Error error = problem.error();
      if (!enter_password(error)) throw Exception(error);
    }
  }
}

}  // namespace winnow::cli
