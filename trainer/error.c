/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "trainer/internal.h"

/* Text from a file must not contain control characters for the terminal. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f) *text = '?';
}

void train__explain(train_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (error) {
        vsnprintf(error->text, sizeof error->text, format, args);
        make_printable(error->text);
    }
    va_end(args);
}

p2p_err train__comm(p2p_comm *comm, train_error *error, p2p_err err)
{
    const char *said = err ? p2p_error_message(comm) : "";
    return err ? train__fail(error, err, "%s", said[0] ? said : p2p_strerror(err)) : P2P_OK;
}
