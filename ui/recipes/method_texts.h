// The meaning of methods, their options and their parts, translated from app/ground/recipes/method_texts.h, and what the reasons of layers
// mean.
//
// Used by the method picker, the recipe editor and the live cache panel. Texts are found by the engine's own names; an unknown name gives
// an empty text, which every view leaves out. tests/ui/recipes fails if a registered method, option, part or reason has none. UI thread
// only (translations).
#pragma once

#include <QString>
#include <string>

namespace winnow::ui {

QString methodPurpose(const std::string& method);  // what it does
QString methodCaution(const std::string& method);  // when it is a bad idea
QString optionTitle(const std::string& option);    // "Floor of each head"; an unknown one is its own title
QString optionHelp(const std::string& option);
QString partTitle(const std::string& kind);                          // "Share among layers"
QString partHelp(const std::string& kind, const std::string& part);  // what this part does
QString reasonTitle(const std::string& reason);                      // column of a layer's own number, "Sparsity"
QString reasonHelp(const std::string& reason);                       // what the number means for the layer's budget

}  // namespace winnow::ui
