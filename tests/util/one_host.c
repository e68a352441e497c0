/* SPDX-License-Identifier: MIT */
#include "tests/util/one_host.h"

#include <stdio.h>
#include <string.h>

char *one_host(char *text)
{
    for (char *at = text; (at = strstr(at, " on host "));) {
        int number, length = 0;
        if (sscanf(at, " on host %d (%*[^)])%n", &number, &length) == 1 && length)
            memmove(at, at + length, strlen(at + length) + 1);
        else
            at++;
    }
    return text;
}
