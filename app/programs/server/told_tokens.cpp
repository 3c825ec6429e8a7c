#include "app/programs/server/told_tokens.h"

#include <QByteArrayView>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/programs/server/api_json.h"

namespace winnow::app {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr double kLeast = -9999.0;  // OpenAI's way to say never

double logprobOf(const TokenProbability& token) { return std::max(token.log_probability, kLeast); }

// OpenAI's name of a token that is a part of a character.
std::string nameOf(const TokenProbability& token) {
  if (QByteArrayView(token.bytes).isValidUtf8()) return token.bytes;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name = "bytes:";
  for (const char byte : token.bytes) {
    const auto value = static_cast<unsigned char>(byte);
    name += std::string("\\x") + kDigits[value >> 4] + kDigits[value & 15];
  }
  return name;
}

Ordered ofMessage(const TokenProbability& token) {
  return {{"token", nameOf(token)}, {"logprob", logprobOf(token)}, {"bytes", bytesJson(token.bytes)}};
}

std::size_t charactersIn(const std::string& bytes) {
  return static_cast<std::size_t>(
      std::ranges::count_if(bytes, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace

ToldTokens::ToldTokens(AnswerForm form, const std::string& before) : m_form(form), m_characters(charactersIn(before)) {}

void ToldTokens::add(const TokenSampled& token) {
  if (token.kind == TextKind::kAnswer) m_waiting.push_back(token);
}

void ToldTokens::release() {
  m_told.insert(m_told.end(), m_waiting.begin(), m_waiting.end());
  m_waiting.clear();
}

Ordered ToldTokens::take() {
  if (m_told.empty()) return {};
  Ordered told = m_form == AnswerForm::kChat ? ofMessages() : ofText();
  m_told.clear();
  return told;
}

Ordered ToldTokens::ofMessages() const {
  Ordered content = Ordered::array();
  for (const TokenSampled& token : m_told) {
    Ordered entry = ofMessage(token.sampled);
    entry["top_logprobs"] = Ordered::array();
    for (const TokenProbability& other : token.likeliest) entry["top_logprobs"].push_back(ofMessage(other));
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Ordered ToldTokens::ofText() {
  Ordered tokens = Ordered::array(), logprobs = tokens, likeliest = tokens, offsets = tokens;
  for (const TokenSampled& token : m_told) {
    tokens.push_back(nameOf(token.sampled));
    logprobs.push_back(logprobOf(token.sampled));
    Ordered others = Ordered::object();
    for (const TokenProbability& other : token.likeliest) others[nameOf(other)] = logprobOf(other);
    others[nameOf(token.sampled)] = logprobOf(token.sampled);
    likeliest.push_back(std::move(others));
    offsets.push_back(m_characters);
    m_characters += charactersIn(token.sampled.bytes);
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(likeliest)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace winnow::app
