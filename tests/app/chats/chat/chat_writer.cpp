// Child of kill_test: works on a conversation database until it is killed, and writes one line per change AFTER it was acknowledged.
//
// Usage: winnow_chat_writer <folder> <seed>. Lines: "turn <conversation> <question> <answer> <number>", "stream <answer> <length>",
// "finish <answer> <length>", "ask <conversation> <question> <number>", "compare <conversation> <comparison> <question>",
// "rename <conversation> <number>", "delete <conversation>". Texts follow from the numbers (streamedText).
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string>

#include "app/chats/chat/chat_database.h"
#include "tests/app/chats/chat/kill_texts.h"

int main(int argc, char** argv) {
  using namespace winnow::app;
  if (argc != 3) return 2;
  const QString folder = QString::fromLocal8Bit(argv[1]);
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[2])));
  const auto say = [](const std::string& line) {
    // One write: the pipe takes it wholly, or the kill came first.
    const std::string text = line + "\n";
    if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) std::_Exit(3);
  };
  try {
    ChatDatabase db({folder + QStringLiteral("/data"), folder + QStringLiteral("/cache")});
    winnow::ConversationId conversation = db.createConversation({}, {}).id;
    MessageId leaf = 0;
    for (int number = 1;; ++number) {
      const TurnIds ids = db.beginTurn({conversation, leaf, questionText(number), {}});
      say("turn " + std::to_string(conversation) + " " + std::to_string(ids.question) + " " + std::to_string(ids.answer) + " " +
          std::to_string(number));
      leaf = ids.answer;
      int length = 0;
      for (int flush = static_cast<int>(random() % 4); flush > 0; --flush) {
        length += 1 + static_cast<int>(random() % 3000);
        db.updateStreaming(ids.answer, {streamedText(ids.answer, length)});
        say("stream " + std::to_string(ids.answer) + " " + std::to_string(length));
      }
      length += 1;
      db.finishTurn({ids.answer, streamedText(ids.answer, length), MessageState::kComplete, {}, {}, false, {}});
      say("finish " + std::to_string(ids.answer) + " " + std::to_string(length));
      if (random() % 3 == 0) {
        const TurnIds asked = db.beginQuestion({conversation, leaf, questionText(number), {}});
        say("ask " + std::to_string(conversation) + " " + std::to_string(asked.question) + " " + std::to_string(number));
        const Comparison saved = db.saveComparison(comparisonOf(asked.question));
        say("compare " + std::to_string(conversation) + " " + std::to_string(saved.id) + " " + std::to_string(asked.question));
        leaf = db.useAnswer(saved.id, 1).answer;
      }
      if (random() % 3 == 0) {
        db.renameConversation(conversation, questionText(number));
        say("rename " + std::to_string(conversation) + " " + std::to_string(number));
      }
      if (random() % 4 == 0) {
        db.deleteConversation(conversation);
        say("delete " + std::to_string(conversation));
        conversation = db.createConversation({}, {}).id;
        leaf = 0;
      }
    }
  } catch (const winnow::Exception& error) {
    say(std::string("error ") + error.what());
    return 1;
  }
}
