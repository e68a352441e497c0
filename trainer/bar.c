/* SPDX-License-Identifier: MIT */
/*
 * The bar, on a terminal: one line that is drawn again and again.
 *
 *      epoch 1/4 [##########------------] 40/79  4 min left  loss 1.9231  27.5%  305 images/s
 *
 * The bar is never wider than the terminal: parts that do not fit are left out, the last first. It ends with a carriage
 * return, because the launcher forwards output up to one.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "trainer/run.h"

enum { BAR = 30, LEAST_BAR = 5, USUAL_WIDTH = 80, WIDEST = 300 };

static int terminal_width(void)
{
    struct winsize size = {.ws_col = 0};
    int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (terminal >= 0) {
        ioctl(terminal, TIOCGWINSZ, &size);
        close(terminal);
    }
    int width = size.ws_col ? size.ws_col : USUAL_WIDTH;
    return width < WIDEST ? width : WIDEST;
}

/* A terminal that cannot go back to the beginning of a line and clear it gets plain lines. */
bool train__can_draw(const train_runner *r)
{
    const char *name = getenv("TERM");
    return p2p_is_terminal(r->comm) && name && *name && strcmp(name, "dumb") != 0;
}

/* As many of the parts as fit, in their order. Returns the width left. */
static int join(char *line, int room, const char parts[][40], int count)
{
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(parts[i]);
        if (length > room) break;
        memcpy(line, parts[i], (size_t)length + 1);
        line += length;
        room -= length;
    }
    return room;
}

void train__draw_bar(train_runner *r, const train_step_report *s, double seconds)
{
    uint64_t done = r->epoch_before + s->step - r->first_step, all = r->epoch_before + r->epoch_steps;
    uint64_t epochs = r->settings->epochs ? r->settings->epochs : !r->settings->steps;
    char epoch[40], line[WIDEST + 1] = "", left[24], bar[BAR + 1] = "";
    char parts[5][40] = {"", "", "", "", ""};
    int used = snprintf(epoch, sizeof epoch, "epoch %" PRIu64, s->epoch);
    if (epochs) snprintf(epoch + used, sizeof epoch - (size_t)used, "/%" PRIu64, epochs);
    snprintf(parts[0], sizeof parts[0], "%" PRIu64 "/%" PRIu64, done, all);
    snprintf(parts[1], sizeof parts[1], "  %s left", train__time_text(seconds, left));
    snprintf(parts[2], sizeof parts[2], "  loss %.4f", s->loss);
    snprintf(parts[3], sizeof parts[3], "  %.1f%%", 100 * s->accuracy);
    snprintf(parts[4], sizeof parts[4], "  %.0f images/s", s->images_per_s);
    int room = terminal_width() - 1 - (int)strlen(epoch) - 1 - LEAST_BAR - 3;
    room = join(line, room > 0 ? room : 0, (const char(*)[40])parts, 5) + LEAST_BAR;
    int length = room < BAR ? room : BAR, filled = (int)(length * train__share_of(done, all));
    memset(bar, '-', (size_t)length);
    memset(bar, '#', (size_t)filled);
    printf("%s [%s] %s\033[K\r", epoch, bar, line);
    r->drawn = true;
    fflush(stdout);
}

void train__clear_bar(train_runner *r)
{
    if (r->drawn) printf("\033[K\r");
    r->drawn = false;
}
