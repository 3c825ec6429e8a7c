// The running text of files: paragraphs of whole sentences, without headings, lists, addresses and what is written in capitals.
//
// Used by text_document.h: fact_document.h puts its facts between the sentences. Paragraphs are parted by empty lines, their lines joined;
// one that has come before (licences share many) is left out. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace winnow::app {

using Sentences = std::vector<std::string>;  // of a paragraph

class RunningText {
 public:
  // texts: UTF-8, lines ending in "\n".
  explicit RunningText(const std::vector<std::string>& texts);

  const std::vector<Sentences>& paragraphs() const { return m_paragraphs; }
  std::size_t words() const { return m_words; }
  std::string fingerprint() const;  // SHA-256, lower-case hex

  // Consecutive paragraphs from `first` on, from the beginning again after the last; the last one ends with the sentence that makes it so
  // many words. At most words() of them.
  std::vector<Sentences> part(std::size_t first, std::size_t words) const;

 private:
  std::vector<Sentences> m_paragraphs;
  std::size_t m_words = 0;
};

// Paragraphs parted by an empty line, with a line break behind the last.
std::string joinedText(const std::vector<Sentences>& paragraphs);

// Separated by white space.
std::size_t wordsIn(const std::string& text);

}  // namespace winnow::app
