// A plan as people read it: one line, whether it fits, and what could be done if it does not.
//
// Used by ui/shell/turns/plan_controller.h. Pure; computes nothing that the engine has not said, except how many frames fewer would do.
// UI thread only (translations).
#pragma once

#include <QList>
#include <QString>

#include "app/chats/chat/conversation.h"
#include "engine/messages/events.h"
#include "engine/models/model_info.h"
#include "ui/composer/attachment_card.h"

namespace winnow::ui {

enum class PlanFit : int { kFits = 1, kTight = 2, kDoesNotFit = 3 };

// One click that changes the question so that it fits better.
struct PlanRemedy {
  enum class Kind : int { kFrames = 1, kRetention = 2, kNarrowCache = 3, kReadTwice = 4, kDetail = 5 };  // kDetail: medium, of pictures
  Kind kind = Kind::kFrames;
  double factor = 1.0;     // kFrames: of every attached video's frames
  double retention = 1.0;  // kRetention: the share to keep
  QString text;
};

struct PlanView {
  QString text;    // empty: nothing to show
  QString detail;  // for a tooltip
  PlanFit fit = PlanFit::kFits;
  QList<PlanRemedy> remedies;
};

// The subject that the plan was made for.
struct PlanSubject {
  QList<app::Attachment> attachments{};
  RecipeSpec recipe{};
  bool narrowCache = false;          // the model's device reads a cache in fewer bits than are computed
  qint64 window = 0;                 // ModelTraits::window
  DetailChoices pictures{};          // ModelInfo::picture_detail
  double frameMs = 0.0;              // ModelInfo::frame_ms
  std::vector<MediaSampled> seen{};  // images and videos, as the plan has them
};

// The documents that the plan has read and that have to be cut so that the question fits. The longest gives way.
QList<DocumentRoom> documentRooms(const Planned& planned, const std::vector<MediaSampled>& documents);

PlanView describePlan(const Planned& planned, const PlanSubject& subject);

}  // namespace winnow::ui
