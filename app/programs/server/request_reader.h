// Reads what is asked with a body, and puts it into the line: requests of OpenAI's API, and those of another machine's Winnow.
//
// Sounds of a thread are heard first: each goes into the line by itself, and the request is read again once its words are known.
// A body may hold hundreds of megabytes of base64, so reading has a thread of its own. A request that names media of the network is read on
// yet another one, so that no other waits for a slow machine.
// Errors: none; what cannot be done is refused to its asker. Threads: made and destroyed by the EngineHost's, which asks requests(); the
// rest any. The destructor waits for what is being read, and interrupts what is being fetched.
#pragma once

#include <QThreadPool>
#include <functional>
#include <string>
#include <string_view>

#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "app/media/files/media_store.h"
#include "app/programs/server/api_options.h"
#include "app/programs/server/counted_replies.h"
#include "app/programs/server/loaded_model.h"
#include "app/programs/server/served_answers.h"
#include "app/programs/server/served_sounds.h"
#include "app/programs/server/wire_service.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class RequestReader {
 public:
  using Answer = CountedReplies::Answer;

  // All outlive the reader.
  struct Uses {
    const LoadedModel& model;
    CountedReplies& replies;
    AnswerLine& line;
    Mailbox& mailbox;  // of the EngineHost's thread
    ServedAnswers& answers;
    ServedSounds& sounds;
    WireService& wire;
  };
  RequestReader(const ApiOptions& options, MediaStore& store, const MediaReader& media, const Uses& uses);
  ~RequestReader();

  // Endpoints that take a body.
  static bool takes(std::string_view path) { return endpointAt(path) != nullptr; }
  // To one of them.
  void take(HttpRequest request, const Answer& answer);

  // A form with a sound, whose words are wanted.
  void takeSound(HttpRequest request, const Answer& answer);
  // From another machine's Winnow: a request, and whether a file is here (HEAD) or a piece of it.
  void takeWire(HttpRequest request, const Answer& answer);
  void takeMedia(std::string sha256, HttpRequest piece, const Answer& answer);

  int requests() const { return m_requests; }  // that were asked for an answer so far

 private:
  struct Endpoint;
  struct Arriving;
  struct Arrived;

  static const Endpoint* endpointAt(std::string_view path);  // null: there is none

  RequestDefaults defaultsFor(const ModelInfo& model) const;
  ChatRequest chatOf(const Arrived& arrived) const;
  void parse(Arriving& arriving, const std::string& body);
  void readParsed(const Arriving& arriving);
  void readFetching(const Arriving& arriving);
  void read(const Arriving& arriving, const RequestMedia& media);
  void readOrLeave(const Answer& answer, const std::function<Mailbox::Letter()>& read);

  // Each gives what is to be done on the EngineHost's thread.
  Mailbox::Letter answerOf(const Arrived& arrived, ChatRequest chat, bool planOnly);
  Mailbox::Letter tokensOf(const Arrived& arrived, TokenRequest tokens);
  Mailbox::Letter wordsOf(const Arrived& arrived, Transcribe sound);
  Mailbox::Letter intoLine(const Arrived& arrived, AnswerLine::Place place, bool counts);
  void push(const Answer& answer, const AnswerLine::Place& place);

  const ApiOptions& m_options;
  const RequestMedia m_media;
  const MediaReader& m_mediaReader;
  const Uses m_uses;
  InterruptSource m_closing;
  int m_requests = 0;  // of the EngineHost's thread
  QThreadPool m_fetchers;
  WorkerThread m_reader;  // behind m_fetchers, which it posts to
};

}  // namespace winnow::app
