// Which methods belong together in a list: by what the registry says of them, so that a new one finds its place by itself.
//
// Used by the method picker and the recipe editor. UI thread only (translations).
#pragma once

#include <QString>
#include <vector>

#include "engine/recipes/method_info.h"

namespace winnow::ui {

// In the order of lists.
enum class MethodGroup : int {
  kRecommended = 1,  // what new chats begin with
  kSaved = 2,        // recipes of the user's, of any method
  kBeforeQuestion = 3,
  kByQuestion = 4,
  kAfterQuestion = 5,  // by what was read, whatever was asked
  kWhileWriting = 6,   // likewise, and slots go on leaving
  kWhileReading = 7,   // pictures leave the network
  kStreams = 8,
  kComparison = 9,  // nobody would want them for themselves: everything, and the controls
};

MethodGroup groupOf(const MethodInfo& method);
QString groupTitle(MethodGroup group);
// By groups; within one as they come.
std::vector<MethodInfo> grouped(std::vector<MethodInfo> methods);

}  // namespace winnow::ui
