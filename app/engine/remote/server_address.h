// The place of a server's model: its address, the model's name there, and where the key for it can be found.
//
// It has one text form, "http://gpu:8000/v1#model=NAME&key=env:NAME", which stands wherever the folder of a model does: in LoadModel, in
// the settings' list of recent models, with saved chats. The key itself is never part of it. Errors: Exception(kInvalidArgument) with the
// text as subject. Pure; threads: any.
#pragma once

#include <string>
#include <string_view>

namespace winnow::app {

struct KeySource {
  enum class Kind : int { kNone = 1, kEnvironment = 2, kFile = 3, kDesktop = 4 };  // kDesktop: the one that was typed, key_ring.h
  Kind kind = Kind::kNone;
  std::string name{};  // of the variable; the file's path

  friend bool operator==(const KeySource&, const KeySource&) = default;
};

// "env:NAME", "file:/PATH", "desktop"; empty: none.
std::string textOf(const KeySource& source);
KeySource keySourceOf(const std::string& text);

struct ServerAddress {
  std::string url;      // up to and including /v1, without a slash behind it
  std::string model{};  // empty: the first that the server lists
  KeySource key{};

  std::string host() const;    // "gpu:8000", for people
  std::string root() const;    // url without /v1: where what is not OpenAI's stands
  std::string origin() const;  // "http://gpu:8000": whose key it is
  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

// A folder and a file are none.
bool isServerAddress(std::string_view text);

// Reads what a person typed: "gpu:8000" is completed, "…/chat/completions" cut. Passwords inside are refused.
ServerAddress serverAddressOf(const std::string& text);
std::string textOf(const ServerAddress& address);

}  // namespace winnow::app
