/* SPDX-License-Identifier: MIT */
/*
 * From the stack to a line. The files of mpi/ keep frame pointers, and call one another by real calls (mpi.mk), so the
 * frames from here up to the program can be followed: the first return address after those of the functions that programs
 * call is the program's. What line that is is looked up once, and kept.
 */

#include "mpi/lines.h"

#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/internal.h"

enum { FRAMES = 8 };

/* A call of the program's. */
typedef struct {
    uintptr_t address; /* 0: none */
    const char *file;
    int line;
} known_call;

/* A hash table, of which no entry is ever taken out, and a quarter is free. */
static struct {
    known_call *calls;
    size_t room, used; /* room: a power of 2 */
} known;

/* The functions that programs call: all that API() defines (internal.h). */
extern const char __start_pairwise_mpi[] __attribute__((visibility("hidden")));
extern const char __stop_pairwise_mpi[] __attribute__((visibility("hidden")));

static bool is_ours(uintptr_t address)
{
    return address >= (uintptr_t)__start_pairwise_mpi && address < (uintptr_t)__stop_pairwise_mpi;
}

bool mpi__is_called(void)
{
    void *stack[64];
    int depth = backtrace(stack, 64), i = 0;
    while (i < depth && !is_ours((uintptr_t)stack[i])) i++;
    return i < depth;
}

typedef struct {
    uintptr_t address;    /* looked for */
    uintptr_t begin, end; /* the module that has it */
    uintptr_t bias;
    const char *name;
    bool program;
} module;

static int visit(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    module *m = arg;
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type != PT_LOAD || m->address < begin || m->address >= end) continue;
        m->begin = begin;
        m->end = end;
        m->bias = info->dlpi_addr;
        m->name = info->dlpi_name;
        m->program = !info->dlpi_name[0];
        return 1;
    }
    return 0;
}

static bool find_module(uintptr_t address, module *m)
{
    *m = (module){.address = address};
    return dl_iterate_phdr(visit, m) == 1;
}

void mpi__line_of(uintptr_t address, const char **file, int *line)
{
    module m;
    char path[4096];
    *file = NULL;
    *line = 0;
    if (!find_module(address, &m)) return;
    ssize_t length = m.program ? readlink("/proc/self/exe", path, sizeof path - 1) : -1;
    if (length >= 0) path[length] = '\0';
    mpi__line_in(m.program && length >= 0 ? path : m.name, address - m.bias, file, line);
}

static bool is_of_system(const char *file)
{
    return strncmp(file, "/usr/", 5) == 0 || strncmp(file, "/opt/", 5) == 0;
}

void mpi__program_line(const void *from, const char **file, int *line)
{
    void *stack[64];
    int depth = backtrace(stack, 64), i = 0, inner_line = 0;
    const char *inner = NULL; /* the innermost of all */
    *file = NULL;
    *line = 0;
    while (i < depth && stack[i] != from) i++;
    if (i == depth) stack[i = 0] = (void *)(uintptr_t)from, depth = 1;
    for (; i < depth && !*file; i++) {
        mpi__line_of((uintptr_t)stack[i] - 1, file, line);
        if (!*file || !is_of_system(*file)) continue;
        if (!inner) inner = *file, inner_line = *line;
        *file = NULL;
    }
    if (*file) return;
    *file = inner;
    *line = inner_line;
}

/* ---- Python ---- */

/* Of Python's C API, if the process has it. */
#define PYTHON __attribute__((weak))
PYTHON int Py_IsInitialized(void);
PYTHON int PyGILState_Ensure(void);
PYTHON void PyGILState_Release(int state);
PYTHON void *PyEval_GetFrame(void); /* borrowed */
PYTHON void *PyFrame_GetBack(void *frame);
PYTHON void *PyFrame_GetCode(void *frame);
PYTHON int PyFrame_GetLineNumber(void *frame);
PYTHON void *PyObject_GetAttrString(void *object, const char *name);
PYTHON const char *PyUnicode_AsUTF8(void *text);
PYTHON void Py_DecRef(void *object);
PYTHON void Py_IncRef(void *object);

/* One copy of each name, for as long as the process lives. */
static const char *keep_name(const char *name)
{
    static struct name {
        struct name *next;
        char text[];
    } * names;
    for (const struct name *at = names; at; at = at->next)
        if (strcmp(at->text, name) == 0) return at->text;
    size_t bytes = strlen(name) + 1;
    struct name *made = malloc(sizeof *made + bytes);
    if (!made) return NULL;
    made->next = names;
    names = made;
    return memcpy(made->text, name, bytes);
}

static const char *file_of(void *frame)
{
    void *code = PyFrame_GetCode(frame), *text = PyObject_GetAttrString(code, "co_filename");
    const char *name = text ? PyUnicode_AsUTF8(text) : NULL;
    const char *kept = name ? keep_name(name) : NULL;
    Py_DecRef(text);
    Py_DecRef(code);
    return kept;
}

bool mpi__is_python(void)
{
    return Py_IsInitialized && Py_IsInitialized();
}

/* The innermost line of the program's own: not of Python's import system ("<frozen ...>"), nor of mpi4py. */
static bool note_python(void)
{
    static bool seen;
    if (!Py_IsInitialized || !PyFrame_GetBack || !PyFrame_GetCode) return false;
    if (!Py_IsInitialized()) return seen; /* it has ended: what runs now is no line of the program */
    int state = PyGILState_Ensure(), line = 0;
    const char *file = NULL;
    void *frame = PyEval_GetFrame();
    Py_IncRef(frame);
    while (frame && !line) {
        file = file_of(frame);
        if (file && file[0] != '<' && !strstr(file, "/mpi4py/")) line = PyFrame_GetLineNumber(frame);
        void *back = PyFrame_GetBack(frame);
        Py_DecRef(frame);
        frame = back;
    }
    Py_DecRef(frame);
    PyGILState_Release(state);
    if (!line) return false;
    seen = true;
    p2p__here(file, line);
    return true;
}

static known_call *place_of(uintptr_t address)
{
    size_t place = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
    while (known.calls[place % known.room].address && known.calls[place % known.room].address != address) place++;
    return &known.calls[place % known.room];
}

static bool make_room(void)
{
    const size_t before = known.room, room = before ? 2 * before : 1024;
    known_call *old = known.calls;
    if (before && known.used < before / 4 * 3) return true;
    known_call *calls = calloc(room, sizeof *calls);
    if (!calls) return false;
    known.calls = calls;
    known.room = room;
    for (size_t i = 0; i < before; i++)
        if (old[i].address) *place_of(old[i].address) = old[i];
    free(old);
    return true;
}

void mpi__note_line(void)
{
    if (p2p_layer_line_is_noted() || note_python()) return;
    const uintptr_t *frame = __builtin_frame_address(0);
    uintptr_t caller = 0;
    bool entered = false; /* a function of ours that programs call */
    for (int i = 0; i < FRAMES && !caller; i++) {
        if (is_ours(frame[1]))
            entered = true;
        else if (entered)
            caller = frame[1];
        if (frame[0] <= (uintptr_t)frame || frame[0] - (uintptr_t)frame > 1 << 20) break;
        frame = (const uintptr_t *)frame[0];
    }
    if (!caller || !make_room()) return;
    known_call *call = place_of(caller);
    if (!call->address) {
        mpi__line_of(caller - 1, &call->file, &call->line);
        call->address = caller;
        known.used++;
    }
    if (call->file) p2p__here(call->file, call->line);
}
