// The folder of models in Winnow's data folder: whether an offered one is there, and whether it was looked at byte for byte.
//
// Used by bootstrap, the terminal program and the window. A file that was hashed gets a stamp beside it (`<name>.checked`: size, time of
// the last change, SHA-256), so that it is hashed once: as long as the stamp fits, it is the file that was checked. A link under a model's
// name is not the model. Looking touches the disk. Errors: what cannot be read is not there. Threads: any.
#pragma once

#include <QString>
#include <functional>

#include "app/library/downloads/model_offers.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

// `data`: AppFolders::data.
QString modelsFolder(const QString& data);
// The path of the offer's model when it has been fetched: a file, or a folder.
QString offeredFile(const QString& folder, const ModelOffer& offer);
// The speech model: the one that was chosen as long as it is there, else the first by name of whisper.cpp's files that was put there, or an
// offer that was fetched; empty: there is none.
QString fetchedSpeechModel(const QString& folder);
// From now on for windows and the terminal. path: a folder or file, wherever it lies.
void chooseSpeechModel(const QString& folder, const QString& path);
// Files of its sizes lie there. For lists; whoever is asked for the model checks it.
bool isFetched(const QString& folder, const ModelOffer& offer);
// It has been checked, and has not changed since.
bool isChecked(const QString& folder, const ModelOffer& offer);
// Hashes it and stamps it. False: it is another file, or cannot be read. Throws Interrupted.
bool check(const QString& folder, const ModelOffer& offer, const InterruptToken& interrupt,
           const std::function<void(qint64 done)>& progress);
// Stamps a file whose hash was right when it was written.
void markChecked(const QString& folder, const ModelOffer& offer);
// Removes a link under the model's name, so that nothing is written to where it leads. Throws DownloadError.
void makeWay(const QString& folder, const ModelOffer& offer);

}  // namespace winnow::app
