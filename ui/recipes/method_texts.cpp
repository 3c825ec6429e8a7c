#include "ui/recipes/method_texts.h"

#include <QCoreApplication>
#include <iterator>

#include "app/ground/recipes/method_texts.h"

#define SAY(text) QT_TRANSLATE_NOOP("winnow::ui::MethodTexts", text)

namespace winnow::ui {
namespace {

struct ReasonText {
  const char* name;
  const char* title;
  const char* help;
};

constexpr ReasonText kReasons[] = {
    {"sparsity", SAY("Sparsity"), SAY("Share of attention that is close to zero. Sparser layers get less.")},
    {"entropy", SAY("Entropy"), SAY("How widely text and pictures attend to each other. Wider layers get more.")},
    {"variance", SAY("Variance"), SAY("How unevenly attention falls on tokens. Uneven layers get less.")},
    {"strength", SAY("Strength"), SAY("How much attention the question pays to pictures. Layers with more attention get more.")},
    {"skew", SAY("Skew"), SAY("How much of that attention falls on few tokens. Layers with more of it get more.")},
};

const ReasonText* reasonText(const std::string& reason) {
  for (const ReasonText& text : kReasons) {
    if (reason == text.name) return &text;
  }
  return nullptr;
}

QString saidOfReason(const char* text) { return QCoreApplication::translate("winnow::ui::MethodTexts", text); }

QString saidOfMethod(const char* text) { return QCoreApplication::translate("winnow::app::MethodTexts", text); }

}  // namespace

QString methodPurpose(const std::string& method) {
  const app::MethodText* text = app::methodText(method);
  return text != nullptr ? saidOfMethod(text->purpose) : QString();
}

QString methodCaution(const std::string& method) {
  const app::MethodText* text = app::methodText(method);
  return text != nullptr ? saidOfMethod(text->caution) : QString();
}

QString optionTitle(const std::string& option) {
  const app::OptionText* text = app::optionText(option);
  return text != nullptr ? saidOfMethod(text->title) : QString::fromStdString(option);
}

QString optionHelp(const std::string& option) {
  const app::OptionText* text = app::optionText(option);
  return text != nullptr ? saidOfMethod(text->help) : QString();
}

QString partHelp(const std::string& kind, const std::string& part) {
  const char* text = app::partText(kind, part);
  return text != nullptr ? saidOfMethod(text) : QString();
}

QString partTitle(const std::string& kind) { return partHelp(kind, {}); }

QString reasonTitle(const std::string& reason) {
  const ReasonText* text = reasonText(reason);
  return text != nullptr ? saidOfReason(text->title) : QString::fromStdString(reason);
}

QString reasonHelp(const std::string& reason) {
  const ReasonText* text = reasonText(reason);
  return text != nullptr ? saidOfReason(text->help) : QString();
}

}  // namespace winnow::ui
