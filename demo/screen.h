/* SPDX-License-Identifier: MIT */
/*
 * screen: a page of characters for a terminal, drawn again and again in place. Away from a terminal nothing is drawn:
 * demos print lines instead.
 */
#ifndef PAIRWISE_DEMO_SCREEN_H
#define PAIRWISE_DEMO_SCREEN_H

#include <stdbool.h>

enum { SCREEN_WIDTH = 80, SCREEN_HEIGHT = 24 };

/* Every style but the first shows something that the characters show as well. */
enum style {
    STYLE_PLAIN,
    STYLE_STRONG,
    STYLE_FAINT,
    STYLE_OWN,
    STYLE_PART,
    STYLE_WHOLE,
    STYLE_SENT,
    STYLE_KEPT,
    STYLE_BAD
};

enum speed { SPEED_SLOW, SPEED_NORMAL, SPEED_FAST };

/* Is standard output a terminal that can be drawn on? In what follows nothing happens if not. */
bool screen_live(void);

/* Take the terminal, and give it back: also when the program is interrupted. by_key: screen_pause waits for a key. A terminal
 * that is too small ends the program with status 2 and a message. */
void screen_open(enum speed speed, bool by_key);
void screen_close(void);

/* Begin an empty page, write on it (one column a character, beyond the edge nothing), show it. */
void screen_clear(void);
void screen_put(int x, int y, enum style style, const char *format, ...) __attribute__((format(printf, 4, 5)));
void screen_show(void);

/* screen_wait: the time between two frames, at normal speed. screen_pause, at the end of a step: as long, or until a
 * key. */
void screen_wait(int ms);
void screen_pause(int ms);

#endif
