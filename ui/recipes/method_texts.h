// The meaning of methods, their options and their parts, translated from app/ground/recipes/method_texts.h, what the reasons of layers
// mean, and which methods belong together in a list.
//
// Used by the method picker, the recipe editor and the live cache panel. Texts are found by the engine's own names; an unknown name gives
// an empty text, which every view leaves out. tests/ui/recipes fails if a registered method, option, part or reason has none. UI thread
// only (translations).
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "engine/recipes/method_info.h"

namespace winnow::ui {

QString methodPurpose(const std::string& method);  // what it does
QString methodCaution(const std::string& method);  // when it is a bad idea
QString optionTitle(const std::string& option);    // "Floor of each head"; an unknown one is its own title
QString optionHelp(const std::string& option);
QString partTitle(const std::string& kind);                          // "Share among layers"
QString partHelp(const std::string& kind, const std::string& part);  // what this part does
QString reasonTitle(const std::string& reason);                      // column of a layer's own number, "Sparsity"
QString reasonHelp(const std::string& reason);                       // what the number means for the layer's budget

// Which methods belong together in a list: by what the registry says of them, so that a new one finds its place by itself.

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
