/* SPDX-License-Identifier: MIT */
/* The solution, if the compiler can be made to read it. */
#include "solutions/08_broadcast/broadcast.c"
