/* SPDX-License-Identifier: MIT */
#include "tests/util/complaint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

complaint *complaint_here;
int complaint_rank = -1;

int complaint_make(const char *file, int line, const char *format, ...)
{
    va_list args;

    if (!complaint_here || atomic_exchange(&complaint_here->made, 1)) return COMPLAINED;
    size_t room = sizeof complaint_here->text;
    int used = snprintf(complaint_here->text, room, "rank %d, %s:%d: ", complaint_rank, file, line);
    va_start(args, format);
    vsnprintf(complaint_here->text + used, room - (size_t)used, format, args);
    va_end(args);
    return COMPLAINED;
}
