// The answer to a request that cannot be done, in the form that OpenAI's clients read. Plain data.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace winnow::app {

class ApiRefusal : public std::exception {
 public:
  // param: the field that is wrong, "messages[0].content"; empty: none. code: a word for programs; empty: none.
  ApiRefusal(int status, std::string message, std::string param = {}, std::string code = {})
      : m_status(status), m_message(std::move(message)), m_param(std::move(param)), m_code(std::move(code)) {}

  const char* what() const noexcept override { return m_message.c_str(); }
  int status() const { return m_status; }
  const std::string& message() const { return m_message; }
  const std::string& param() const { return m_param; }
  const std::string& code() const { return m_code; }

 private:
  int m_status;
  std::string m_message, m_param, m_code;
};

// To what was asked of a model that goes, or has gone.
inline ApiRefusal modelChanged() { return {503, "the model was changed, or is about to be", {}, "model_changed"}; }

}  // namespace winnow::app
