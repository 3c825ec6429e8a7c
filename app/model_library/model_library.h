// Finds models and the bundled demo: folders are looked at in place, never moved or changed.
//
// Used by ui's model page and the terminal program. Reading a folder touches the disk: call it off the UI thread (all functions are free of
// shared state and may run on any thread). Only config.json and file sizes are read here; the engine's loader does the full checks.
// Errors: a folder that is no model gives an entry with `problem` set or is left out of a scan; nothing throws.
#pragma once

#include <QByteArray>
#include <QList>
#include <QMetaType>
#include <QString>
#include <QStringList>

#include "engine/media/frame_source.h"

namespace winnow::app {

enum class ModelProblem : int {
  kNone = 0,
  kNoConfig = 1,       // config.json missing or unreadable
  kDamagedConfig = 2,  // not JSON, too large, or without model_type
  kNoWeights = 3,      // no *.safetensors
  kMissingShard = 4,   // the index names a file that is not there
  kPickleWeights = 5,  // only .bin/.pt/.ckpt weights: to be converted to safetensors
  kNoTokenizer = 6,    // tokenizer.json missing
};

struct ModelEntry {
  QString folder;          // absolute
  QString name;            // last component of the folder
  QString modelType;       // config.json "model_type"
  QString architecture;    // first of "architectures"; may be empty
  bool hasVision = false;  // a vision_config is there
  qint64 weightBytes = 0;
  int shardCount = 0;
  bool isDemo = false;
  ModelProblem problem = ModelProblem::kNone;
  QString problemDetail;  // file name or key
  bool usable() const { return problem == ModelProblem::kNone; }
};

struct SampleQuestion {
  QString question;
  QString answer;
};

struct Sample {
  QString file;  // absolute path
  MediaKind kind = MediaKind::kVideo;
  QString title;
  QList<SampleQuestion> questions;
};

// One folder, whatever it holds.
ModelEntry inspectModelFolder(const QString& folder);

// The folder itself if it is a model, else its sub-folders down to `depth` levels (also the "snapshots" layout of a Hugging Face cache).
// At most `kMaxScannedFolders` folders are visited; links to folders are followed once. Sorted by name.
QList<ModelEntry> scanForModels(const QString& folder, int depth = 4);
inline constexpr int kMaxScannedFolders = 5000;

// Where the program's own files are: $WINNOW_RESOURCE_DIR, then <program>/../share/winnow, then the source tree's resources folder.
// First existing wins; empty when none exists.
QString resourceFolder();
// demo model of the resource folder; folder empty when it is not there.
ModelEntry demoModel();
QString demoModelFolder();
// resources/demo/samples/samples.json; entries whose file is missing, or lies outside the folder, are left out.
QList<Sample> demoSamples();
QList<Sample> readSamples(const QString& samplesFolder);

// Folders used before, newest first, no duplicates, at most ten. For Settings::recentModelFolders.
QStringList withRecentFolder(QStringList recent, const QString& folder);

}  // namespace winnow::app

Q_DECLARE_METATYPE(winnow::app::ModelEntry)
