// Says in one sentence what cannot be done with the model that answers: the one place where the window asks for it.
//
// A command, a control or a notice shows the sentence where it would have done something. UI thread only.
#pragma once

#include <QString>

#include "engine/models/model_info.h"

namespace winnow::ui {

class ModelSession;

// Empty: it can, or no model is loaded yet.
QString lackText(const ModelSession& model, Ability ability);

}  // namespace winnow::ui
