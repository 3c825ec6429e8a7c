#include "app/cli/exit_status.h"

namespace winnow::cli {

ExitStatus exit_status(const Error& error) {
  switch (error.code) {
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kDeviceUnavailable:
    case ErrorCode::kDeviceFailed:
    case ErrorCode::kNumericFailure:
    case ErrorCode::kInternal:
      return ExitStatus::kEngineFailed;
    case ErrorCode::kIllegalRecipe:
      return ExitStatus::kWrongUsage;
    default:
      return ExitStatus::kRefusedInput;
  }
}

std::string error_sentence(const Error& error) {
  std::string sentence = "winnow-cli: ";
  for (const char c : error.subject) sentence += static_cast<unsigned char>(c) < 0x20 ? '?' : c;  // a file name must not fake a line
  if (!error.subject.empty()) sentence += ": ";
  return sentence + error.reason;
}

}  // namespace winnow::cli
