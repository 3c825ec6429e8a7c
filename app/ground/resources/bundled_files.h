// The files that come with the program: the demo model and the sample media with their questions.
//
// Used by the window's start page and the terminal program. Looking touches the disk. Errors: what is not there is empty or left out;
// nothing throws. Threads: any.
#pragma once

#include <QList>
#include <QString>

#include "engine/media/frame_source.h"

namespace winnow::app {

struct SampleQuestion {
  QString question;
  QString answer{};
};

struct Sample {
  QString file;  // absolute path
  MediaKind kind = MediaKind::kVideo;
  QString title;
  QList<SampleQuestion> questions{};
};

// The folder of the program's own files: $WINNOW_RESOURCE_DIR, then <program>/../share/winnow, then the source tree's resources folder.
// First existing wins; empty when none exists.
QString resourceFolder();
// Empty when it is not there.
QString demoModelFolder();
// resources/demo/samples/samples.json; entries whose file is missing, or lies outside the folder, are left out.
QList<Sample> demoSamples();
QList<Sample> readSamples(const QString& samplesFolder);

}  // namespace winnow::app
