// The fields of a form that was sent as multipart/form-data (RFC 7578), as clients send files.
//
// Used by transcription_request.h. Nothing is copied: values are views of the body, which outlives them. At most kMostFields, each with a
// head of at most kMostHeadBytes. Errors: ApiRefusal (400). Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

struct FormField {
  std::string name;
  bool isFile = false;  // it was sent with a file's name
  std::string_view value_view;
};

inline constexpr std::size_t kMostFields = 64;
inline constexpr std::size_t kMostHeadBytes = 4096;

// type: the request's Content-Type. In the order in which they came; a name may come several times.
std::vector<FormField> formFields(std::string_view type, std::string_view body);

}  // namespace winnow::app
