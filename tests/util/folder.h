/* SPDX-License-Identifier: MIT */
/* folder: a folder of a test's own. For .init and .fini of a test. */
#ifndef PAIRWISE_TESTS_UTIL_FOLDER_H
#define PAIRWISE_TESTS_UTIL_FOLDER_H

extern char test_folder[200];

void make_test_folder(void);
void remove_test_folder(void); /* with all that is in it */

/* FOLDER/NAME; valid until the fourth call after it. */
const char *in_folder(const char *name);

#endif
