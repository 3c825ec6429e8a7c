// Tells if the other side of a connection that sends nothing more is gone, or has only ended its own half and waits for the answer.
//
// TCP says the same for both. On this machine the kernel's table of sockets tells them apart at once; from another machine an ended socket
// does not confirm the kernel's questions, which takes some four seconds. Used by http_listener.cpp. Errors: none. Threads: any.
#pragma once

namespace winnow::app {

// From now on the kernel asks. socket: connected by TCP.
void askWhetherPeerIsThere(int socket);
bool peerIsGone(int socket);

}  // namespace winnow::app
