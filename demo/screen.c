/* SPDX-License-Identifier: MIT */
#include "demo/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    char text[5];
    unsigned char style;
} cell;

static struct {
    bool is_open, by_key, has_keys, utf8, colours;
    enum speed speed;
    struct termios before;
    cell cells[SCREEN_HEIGHT][SCREEN_WIDTH];
} screen;

/* Colours that are told apart without colour vision (Okabe and Ito 2008), as close as 256 come. */
static const char *const colours[] = {
    [STYLE_PLAIN] = "",
    [STYLE_STRONG] = "1",
    [STYLE_FAINT] = "2",
    [STYLE_OWN] = "48;5;252;38;5;16",
    [STYLE_PART] = "48;5;75;38;5;16",
    [STYLE_WHOLE] = "48;5;29;38;5;231;1",
    [STYLE_SENT] = "38;5;32;1",
    [STYLE_KEPT] = "38;5;172;1",
    [STYLE_BAD] = "38;5;166;1",
};

/* Styles without colours: what is complete must be visible too. */
static const char *const without[] = {
    [STYLE_PLAIN] = "",  [STYLE_STRONG] = "1", [STYLE_FAINT] = "", [STYLE_OWN] = "",  [STYLE_PART] = "",
    [STYLE_WHOLE] = "7", [STYLE_SENT] = "1",   [STYLE_KEPT] = "1", [STYLE_BAD] = "1",
};

bool screen_live(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

/* ---- The terminal ---- */

static void give_back(void)
{
    static const char show[] = "\033[0m\033[?25h\n";
    if (!screen.is_open) return;
    screen.is_open = false;
    if (write(STDOUT_FILENO, show, sizeof show - 1) < 0) return; /* the terminal is gone */
    if (screen.has_keys) tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

static void interrupted(int signal)
{
    give_back();
    _exit(128 + signal);
}

static void need_room(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row) return; /* it does not say */
    if (size.ws_col >= SCREEN_WIDTH && size.ws_row >= SCREEN_HEIGHT) return;
    fprintf(stderr, "demo: it needs a terminal of %d x %d characters, and this one has %d x %d\n", SCREEN_WIDTH,
            SCREEN_HEIGHT, size.ws_col, size.ws_row);
    fputs("  try: a larger window or smaller letters; or, as plain text, the same command with \"| cat\" behind it\n",
          stderr);
    exit(2);
}

void screen_open(enum speed speed, bool by_key)
{
    screen.speed = speed;
    if (!screen_live()) return;
    need_room();
    setlocale(LC_CTYPE, "");
    screen.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    screen.colours = !getenv("NO_COLOR");
    screen.has_keys = tcgetattr(STDIN_FILENO, &screen.before) == 0;
    screen.by_key = by_key && screen.has_keys;
    if (screen.has_keys) {
        struct termios keys = screen.before;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    screen.is_open = true;
    signal(SIGINT, interrupted);
    signal(SIGTERM, interrupted);
    printf("\033[?25l\033[2J");
}

void screen_close(void)
{
    fflush(stdout);
    give_back();
}

/* ---- A page ---- */

void screen_clear(void)
{
    for (int y = 0; y < SCREEN_HEIGHT; y++)
        for (int x = 0; x < SCREEN_WIDTH; x++) screen.cells[y][x] = (cell){" ", STYLE_PLAIN};
}

static int length_of(const char *at)
{
    unsigned char c = (unsigned char)*at;
    int length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    for (int i = 1; i < length; i++)
        if (!at[i]) return i;
    return length;
}

void screen_put(int x, int y, enum style style, const char *format, ...)
{
    char text[800];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const char *at = text; *at; x++) {
        int length = length_of(at);
        if (x >= 0 && x < SCREEN_WIDTH && y >= 0 && y < SCREEN_HEIGHT) {
            cell *c = &screen.cells[y][x];
            memcpy(c->text, at, (size_t)length);
            c->text[length] = 0;
            c->style = (unsigned char)style;
        }
        at += length;
    }
}

/* For terminals that can show only ASCII. */
static const char *plain(const char *text)
{
    static const char *const pairs[][2] = {{"─", "-"}, {"│", "|"}, {"┌", "+"}, {"┐", "+"}, {"└", "+"}, {"┘", "+"},
                                           {"▶", ">"}, {"◀", "<"}, {"▲", "^"}, {"▼", "v"}, {"█", "#"}, {"░", "."},
                                           {"→", ">"}, {"═", "="}, {"✓", "*"}, {"·", "."}, {"µ", "u"}};
    if ((unsigned char)*text < 0x80) return text;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], text) == 0) return pairs[i][1];
    return "?";
}

void screen_show(void)
{
    if (!screen.is_open) return;
    printf("\033[H");
    for (int y = 0; y < SCREEN_HEIGHT; y++) {
        int style = STYLE_PLAIN;
        for (int x = 0; x < SCREEN_WIDTH; x++) {
            const cell *c = &screen.cells[y][x];
            if (c->style != style) printf("\033[0;%sm", (screen.colours ? colours : without)[c->style]);
            style = c->style;
            fputs(screen.utf8 ? c->text : plain(c->text), stdout);
        }
        printf("\033[0m\033[K%s", y < SCREEN_HEIGHT - 1 ? "\r\n" : "");
    }
    fflush(stdout);
}

/* ---- Time ---- */

static void sleep_ms(double ms)
{
    nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000}, NULL);
}

void screen_wait(int ms)
{
    static const double factors[] = {[SPEED_SLOW] = 2.2, [SPEED_NORMAL] = 1, [SPEED_FAST] = 0.2};
    if (screen.is_open) sleep_ms(ms * factors[screen.speed]);
}

/* A key; q ends the demo. */
static void wait_for_key(void)
{
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) == 1 && key != 'q' && key != 'Q') return;
    give_back();
    exit(0);
}

void screen_pause(int ms)
{
    if (!screen.is_open) return;
    if (screen.by_key)
        wait_for_key();
    else
        screen_wait(ms);
}
