// winnow-media: reads media for the program that started it (media_server.h). Descriptor 3 is the channel.
#include <sys/socket.h>

#include <cstdio>

#include "app/media_process/media_server.h"
#include "app/worker/worker_process.h"

int main() {
  using namespace winnow::app;
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(WorkerProcess::kChannelDescriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    std::fputs("winnow-media: is started by winnow and winnow-cli, not by hand\n", stderr);
    return 2;
  }
  return serveMedia(OpenFile(WorkerProcess::kChannelDescriptor));
}
