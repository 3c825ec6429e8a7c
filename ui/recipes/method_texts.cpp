#include "ui/recipes/method_texts.h"

#include <QCoreApplication>
#include <algorithm>
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

class GroupWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::GroupWords)
};

bool isControl(const MethodInfo& method) { return method.source.starts_with("control") || method.source == "no compression"; }

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

MethodGroup groupOf(const MethodInfo& method) {
  if (method.name == kDefaultMethod) return MethodGroup::kRecommended;
  if (isControl(method)) return MethodGroup::kComparison;
  const PhaseFacts& facts = phase_facts(method.phase);
  if (facts.in_clips) return MethodGroup::kStreams;
  if (method.phase == MethodPhase::kPrefill) return MethodGroup::kWhileReading;
  if (method.query_aware) return MethodGroup::kByQuestion;
  if (facts.before_question) return MethodGroup::kBeforeQuestion;
  return facts.evicts_while_decoding ? MethodGroup::kWhileWriting : MethodGroup::kAfterQuestion;
}

QString groupTitle(MethodGroup group) {
  switch (group) {
    case MethodGroup::kRecommended: return GroupWords::tr("Recommended");
    case MethodGroup::kSaved: return GroupWords::tr("Your recipes");
    case MethodGroup::kBeforeQuestion: return GroupWords::tr("Before the question: good for all later ones");
    case MethodGroup::kByQuestion: return GroupWords::tr("Judged by the question: best for one");
    case MethodGroup::kAfterQuestion: return GroupWords::tr("After reading, whatever the question");
    case MethodGroup::kWhileWriting: return GroupWords::tr("Also while the answer is written");
    case MethodGroup::kWhileReading: return GroupWords::tr("While reading: fewer picture tokens");
    case MethodGroup::kStreams: return GroupWords::tr("Streams, clip by clip");
    case MethodGroup::kComparison: break;
  }
  return GroupWords::tr("For comparison");
}

std::vector<MethodInfo> grouped(std::vector<MethodInfo> methods) {
  std::stable_sort(methods.begin(), methods.end(), [](const MethodInfo& a, const MethodInfo& b) { return groupOf(a) < groupOf(b); });
  return methods;
}

}  // namespace winnow::ui
