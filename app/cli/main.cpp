// winnow-cli: the process around the terminal program (app/cli/program.h).
#include <QCoreApplication>

#include "app/cli/program.h"

int main(int argc, char** argv) {
  const QCoreApplication qt(argc, argv);
  return static_cast<int>(winnow::cli::run_program(argc, argv));
}
