#include "app/engine/video_shelf/video_question.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

TEST(PutToEach, AWhichQuestionAsksEachWhetherAndWhen) {
  for (const char* asked : {"Which shows a green star?", "which of these videos has a green star", "What film contains a green star ?"}) {
    const PutQuestion put = putToEach(asked);
    EXPECT_EQ(put.whether, "Is there a green star?") << asked;
    EXPECT_EQ(put.when, "When does the green star appear?") << asked;
  }
  EXPECT_EQ(putToEach("Which of them show red stars?").whether, "Are there red stars?");
  const PutQuestion other = putToEach("Does anybody laugh?");
  EXPECT_EQ(other.whether, "Does anybody laugh?");
  EXPECT_EQ(other.when, "");
}

TEST(VerdictOf, GoesByHowTheAnswerBegins) {
  for (const char* yes : {"Yes, at the end.", "There is a green star.", "yes", "I think there are two."})
    EXPECT_EQ(verdictOf(yes), Verdict::kYes) << yes;
  for (const char* no : {"No.", "There is no green star.", "None of it", "there aren't any", "There are not."})
    EXPECT_EQ(verdictOf(no), Verdict::kNo) << no;
  for (const char* unclear : {"", "A green star.", "Nothing can be seen well, but a star."})
    EXPECT_EQ(verdictOf(unclear), Verdict::kUnclear) << unclear;
}

TEST(TimesIn, AreSecondsOfTheVideo) {
  EXPECT_EQ(timesIn("At 12 seconds.", 60), std::vector<double>{12});
  EXPECT_EQ(timesIn("from 0:15 to 1:02:03, then 2.5s, and 0:15", 4000), (std::vector<double>{15, 3723, 2.5}));
  EXPECT_TRUE(timesIn("At 90 seconds, in 1999; 3 stars", 60).empty());
}

}  // namespace
}  // namespace winnow::app
