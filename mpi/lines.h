/* SPDX-License-Identifier: MIT */
/*
 * lines: which line of the program a call comes from, where no macro has noted it: of programs that were compiled without
 * mpi.h's macros, calls by pointer, and Python's.
 */
#ifndef PAIRWISE_MPI_LINES_H
#define PAIRWISE_MPI_LINES_H

#include <stdbool.h>
#include <stdint.h>

/* Note the line of the program's call that this function of ours was called in, if none is noted, and it can be found. */
void mpi__note_line(void);

/* The line that this instruction of the program belongs to; *file NULL if that is not known. */
void mpi__line_of(uintptr_t address, const char **file, int *line);

/* The innermost line of the program's own that is on the stack from the function on that this address lies in: not of a header
 * of the system's, nor of a library without debug information. *file NULL if there is none. */
void mpi__program_line(const void *from, const char **file, int *line);

/* Is a function on the stack that programs call? */
bool mpi__is_called(void);

/* debug_line.c: the line that an instruction of a file (with debug information) belongs to; address: as in the file. *file
 * lives as long as the process. False if that is not known. */
bool mpi__line_in(const char *path, uintptr_t address, const char **file, int *line);

bool mpi__is_python(void); /* the program is one of Python */

#endif
