// The folder of models in Winnow's data folder: whether an offered one is there.
//
// Used by bootstrap, the terminal program and the window. Looking touches the disk. Errors: what cannot be read is not there. Threads: any.
#pragma once

#include <QString>

#include "app/downloads/model_offers.h"

namespace winnow::app {

// `data`: AppFolders::data.
QString modelsFolder(const QString& data);
// Where the offer's model lies when it has been fetched.
QString offeredFile(const QString& folder, const ModelOffer& offer);
// It does: a file under that name was complete and checked when it got it, so its size suffices.
bool isFetched(const QString& folder, const ModelOffer& offer);

}  // namespace winnow::app
