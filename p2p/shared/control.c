/* SPDX-License-Identifier: MIT */
#include "p2p/shared/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/shared/clock.h"

typedef union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
} ancillary;

bool p2p__control_send(int socket, control_message message, int fd)
{
    struct iovec part = {&message, sizeof message};
    ancillary beside;
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        memset(&beside, 0, sizeof beside);
        header.msg_control = beside.bytes;
        header.msg_controllen = sizeof beside.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return TEMP_FAILURE_RETRY(sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL)) == (ssize_t)sizeof message;
}

int p2p__control_receive(int socket, control_message *message, int *fd, bool *lost)
{
    struct iovec part = {message, sizeof *message};
    ancillary beside;
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd) header.msg_control = beside.bytes, header.msg_controllen = CMSG_LEN(sizeof *fd); /* room for one */
    const int how = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
    ssize_t got = TEMP_FAILURE_RETRY(recvmsg(socket, &header, how));
    if (got < 0 && errno == ECONNRESET) /* the peer has left what it was sent unread; what it had sent follows */
        got = TEMP_FAILURE_RETRY(recvmsg(socket, &header, how));
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (got <= 0) return -1;
    if (got != (ssize_t)sizeof *message || header.msg_flags & MSG_TRUNC) message->type = 0;
    if (!fd) return 1;

    *fd = -1;
    *lost = header.msg_flags & MSG_CTRUNC;
    struct cmsghdr *c = CMSG_FIRSTHDR(&header);
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof *fd)) memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return 1;
}

void p2p__control_tell(int socket, int type, int rank, int value)
{
    while (!p2p__control_send(socket, (control_message){type, rank, value}, -1)) {
        if (errno == EPIPE || errno == ECONNRESET) return;
        p2p__pause(1000000);
    }
}
