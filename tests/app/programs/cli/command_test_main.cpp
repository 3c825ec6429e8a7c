// main() of tests that run commands in their own process: what winnow-cli's main settles before the first one.
#include <gtest/gtest.h>

#include <QCoreApplication>

#include "app/ground/process/process_start.h"
#include "app/programs/cli/program.h"

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  winnow::app::keepDecimalPoint();
  winnow::cli::speak_english(application);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
