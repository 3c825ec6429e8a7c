// Errors of every layer: a code for programs and translators, and the two facts that a message needs.
//
// Used by all layers. Errors travel as winnow::Exception (libtorch throws anyway). They stop at engine/api, where each becomes a Failed
// event, and at app's facades (ChatStore, MediaPreview), where each becomes a signal. Text for people is made in ui (and in the terminal
// program) from code + subject; `reason` is a short English clause for logs, details and the terminal.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace winnow {

// Stored in logs and printed by scripts: never renumber.
enum class ErrorCode : int {
  kInvalidArgument = 1,    // a request that no state of the program could satisfy (retention 2, 0 frames)
  kFileNotFound = 2,       // path does not exist
  kFileUnreadable = 3,     // exists, but cannot be read (permission, directory, device)
  kUnsupportedFormat = 4,  // understood enough to refuse: container, codec or weight format outside the allow-list
  kDamagedFile = 5,        // truncated, inconsistent or not what it claims to be
  kLimitExceeded = 6,      // a cap was hit before anything was allocated
  kUnsupportedModel = 7,   // a valid model folder of a family or shape that the engine does not run
  kContextFull = 8,        // prompt + answer would pass the model's context limit
  kOutOfMemory = 9,
  kDeviceUnavailable = 10,  // asked for a device that this machine or build lacks
  kDeviceFailed = 11,
  kNumericFailure = 12,  // NaN logits and the like
  kIllegalRecipe = 13,   // compression parts that cannot be combined
  kStorage = 14,         // the conversation database; the codes from 16 on say more
  kInternal = 15,        // a broken precondition of our own code
  kFileUnwritable = 26,  // a file that the user names or the program keeps: no permission, or no room
  kNotFetched = 33,      // the file is only a pointer to the real one, a web page, or a part of it
  kArchive = 32,         // to be unpacked before it can be read
  kCacheOutdated = 27,   // a stored conversation of another model or version, or of media that have changed since
  // The conversation database, with known remedies:
  kStorageDamaged = 16,   // or no database of this program at all
  kStorageNewer = 17,     // written by a later version of this program
  kStorageInUse = 18,     // locked by another process
  kStorageReadOnly = 19,  // the file or its folder may not be written
  kStorageFull = 20,      // no room on the disk
  // Choosing a model (engine/model_files/open_package.h); the previous model goes on running:
  kModelFolderMissing = 21,  // does not exist
  kNoModel = 22,             // a folder without config.json, or a file
  kModelInside = 23,         // the model is in a folder below the chosen one: the subject
  kModelFormat = 24,         // weights in a format that is not read: pickle, ONNX
  kModelReadsText = 28,      // an image or a video for a text-only model
  kModelReadsImages = 29,    // a video for a model that reads only images
  kMediaChanged = 31,        // an attached file has been replaced by another one
  kModelFileChanged = 30,    // another program wrote to a file of the loaded model: it has to be loaded again
  kEmptyFile = 34,           // an attached file without a byte
  kPasswordNeeded = 56,      // a document that is encrypted
  kNoTextInPages = 57,       // a document of pictures alone: scanned pages
  // Processes that may die (app/engine/process); what was written so far is kept, and the next request starts them anew:
  kEngineCrashed = 35,      // ended by a signal or by itself
  kEngineOutOfMemory = 36,  // ended by the kernel, to free memory
  kEngineSilent = 37,       // ended because it did not react
  kMediaCrashed = 38,       // the reader of media ended or was ended at the file that is the subject
  kModelFileMissing = 25,   // a model folder, but this file of it is not there: weights, a shard, the tokenizer
  // A server in the engine's place (app/engine/remote); the subject is its host, what was written so far is kept:
  kServerUnreachable = 39,    // no such name, no connection, or nothing came for a while
  kServerUntrusted = 40,      // its certificate does not prove that it is the one
  kServerKeyMissing = 41,     // the subject, where the key should be, has none
  kServerKeyRefused = 42,     // it wants another key, or one at all
  kServerForbids = 43,        // the key is right, but may not do this
  kServerModelMissing = 44,   // it has no model of that name: the subject
  kServerNotOne = 45,         // what answers is no server of this kind: a web page, another path
  kServerBusy = 46,           // it has too much to do; the reason says for how long, if it did
  kServerTooLarge = 47,       // the request is larger than it takes
  kServerRefuses = 48,        // it understood and will not; the reason is in its words
  kServerFailed = 49,         // a fault inside it
  kServerNotUnderstood = 50,  // its answer is damaged, endless or of another form
  kServerBrokeOff = 51,       // the answer ended in its middle
  kTooManyPictures = 52,      // more images and frames than the model takes at once
  kNotAble = 53,              // the model's engine lacks the ability (engine/models/model_info.h)
};

inline bool is_storage(ErrorCode code) {
  return code == ErrorCode::kStorage || (code >= ErrorCode::kStorageDamaged && code <= ErrorCode::kStorageFull);
}

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string subject;  // what it is about: a file path, a tensor, a configuration key; may be empty
  std::string reason;   // one English clause without a full stop: "the header claims 12 bytes more than the file has"
};

class Exception : public std::runtime_error {
 public:
  Exception(ErrorCode code, std::string subject, const std::string& reason)
      : std::runtime_error(subject.empty() ? reason : subject + ": " + reason), error_{code, std::move(subject), reason} {}
  explicit Exception(Error error)
      : std::runtime_error(error.subject.empty() ? error.reason : error.subject + ": " + error.reason), error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

// The current exception as an error; inside a catch block only. `subject`: for exceptions without one.
Error current_error(const std::string& subject = {});

// Precondition of our own code; on in every build type. Throws kInternal, caught at the engine border.
inline void require(bool condition, const char* what) {
  if (!condition) throw Exception(ErrorCode::kInternal, "", what);
}

}  // namespace winnow
