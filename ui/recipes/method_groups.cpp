#include "ui/recipes/method_groups.h"

#include <QCoreApplication>
#include <algorithm>

namespace winnow::ui {
namespace {

class GroupWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::GroupWords)
};

bool isControl(const MethodInfo& method) { return method.source.starts_with("control") || method.source == "no compression"; }

}  // namespace

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
    case MethodGroup::kRecommended:
      return GroupWords::tr("Recommended");
    case MethodGroup::kSaved:
      return GroupWords::tr("Your recipes");
    case MethodGroup::kBeforeQuestion:
      return GroupWords::tr("Before the question: good for all later ones");
    case MethodGroup::kByQuestion:
      return GroupWords::tr("Judged by the question: best for one");
    case MethodGroup::kAfterQuestion:
      return GroupWords::tr("After reading, whatever the question");
    case MethodGroup::kWhileWriting:
      return GroupWords::tr("Also while the answer is written");
    case MethodGroup::kWhileReading:
      return GroupWords::tr("While reading: fewer picture tokens");
    case MethodGroup::kStreams:
      return GroupWords::tr("Streams, clip by clip");
    case MethodGroup::kComparison:
      break;
  }
  return GroupWords::tr("For comparison");
}

std::vector<MethodInfo> grouped(std::vector<MethodInfo> methods) {
  std::stable_sort(methods.begin(), methods.end(), [](const MethodInfo& a, const MethodInfo& b) { return groupOf(a) < groupOf(b); });
  return methods;
}

}  // namespace winnow::ui
