#include "app/programs/cli/exit_status.h"

#include "app/programs/cli/console_output.h"

namespace winnow::cli {

ExitStatus exit_status(const Error& error) {
  switch (error.code) {
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kDeviceUnavailable:
    case ErrorCode::kDeviceFailed:
    case ErrorCode::kNumericFailure:
    case ErrorCode::kInternal:
    case ErrorCode::kEngineCrashed:
    case ErrorCode::kEngineOutOfMemory:
    case ErrorCode::kEngineSilent:
    case ErrorCode::kServerUnreachable:
    case ErrorCode::kServerUntrusted:
    case ErrorCode::kServerBusy:
    case ErrorCode::kServerFailed:
    case ErrorCode::kServerNotUnderstood:
    case ErrorCode::kServerBrokeOff: return ExitStatus::kEngineFailed;
    case ErrorCode::kIllegalRecipe:
    case ErrorCode::kNotAble: return ExitStatus::kWrongUsage;
    default: return ExitStatus::kRefusedInput;
  }
}

std::string error_sentence(const Error& error) {
  // Neither a file name nor what a template says may fake a line or steer the terminal.
  std::string sentence = "winnow-cli: " + printable_line(error.subject);
  if (!error.subject.empty()) sentence += ": ";
  return sentence + printable_line(error.reason);
}

}  // namespace winnow::cli
