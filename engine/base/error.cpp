#include "engine/base/error.h"

#include <new>
#include <system_error>

namespace winnow {

Error current_error(const std::string& subject) {
  try {
    throw;
  } catch (const Exception& exception) {
    return exception.error();
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kOutOfMemory, subject, "this machine has not enough memory for this"};
  } catch (const std::system_error& failure) {  // a thread that cannot have its stack
    const bool scarce = failure.code() == std::errc::resource_unavailable_try_again || failure.code() == std::errc::not_enough_memory;
    return {scarce ? ErrorCode::kOutOfMemory : ErrorCode::kInternal, subject, failure.what()};
  } catch (const std::exception& exception) {
    return {ErrorCode::kInternal, subject, exception.what()};
  } catch (...) {
    return {ErrorCode::kInternal, subject, "an exception of unknown type"};
  }
}

}  // namespace winnow
