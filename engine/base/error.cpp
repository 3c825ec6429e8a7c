#include "engine/base/error.h"

#include <new>

namespace winnow {

Error current_error(const std::string& subject) {
  try {
    throw;
  } catch (const Exception& exception) {
    return exception.error();
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kOutOfMemory, subject, "this machine has not enough memory for this"};
  } catch (const std::exception& exception) {
    return {ErrorCode::kInternal, subject, exception.what()};
  } catch (...) {
    return {ErrorCode::kInternal, subject, "an exception of unknown type"};
  }
}

}  // namespace winnow
