/* SPDX-License-Identifier: MIT */
/*
 * sources: the text of the device's programs, put into the library by the assembler, each with a zero behind it.
 *
 * Few programs, for each takes a while, even if the driver has compiled it before: PoCL 3.1 reads its own headers for
 * each, 0.4 s of CPU the first time and 0.06 s in every process. With one lane there are no vectors to transpose.
 */
#include "kernels/device.h"

#define EMBED(name, file)                                                                                            \
    __asm__(".pushsection .rodata\n.global kernel__text_" #name "\nkernel__text_" #name ":\n.incbin \"kernels/" file \
            "\"\n.byte 0\n.popsection\n");                                                                           \
    extern const char kernel__text_##name[]

EMBED(shapes, "shapes.h");
EMBED(common, "common.cl");
EMBED(layout, "layout.cl");
EMBED(conv_plain, "conv_plain.cl");
EMBED(conv, "conv.cl");
EMBED(winograd, "winograd.cl");
EMBED(conv_winograd, "conv_winograd.cl");
EMBED(conv_pair, "conv_pair.cl");
EMBED(conv_strips, "conv_strips.cl");
EMBED(transpose, "transpose.cl");
EMBED(conv_weight_transposed, "conv_weight_transposed.cl");
EMBED(conv_weight_pair, "conv_weight_pair.cl");
EMBED(conv_weight_winograd, "conv_weight_winograd.cl");
EMBED(conv_weight_plain, "conv_weight_plain.cl");
EMBED(conv_weight, "conv_weight.cl");
EMBED(conv_weight_rows, "conv_weight_rows.cl");
EMBED(norm, "norm.cl");
EMBED(pool, "pool.cl");
EMBED(loss, "loss.cl");
EMBED(vector, "vector.cl");
EMBED(update, "update.cl");
EMBED(ladder_loops, "ladder/1_loops.cl");
EMBED(ladder_taps, "ladder/2_taps.cl");
EMBED(ladder_reuse, "ladder/4_reuse.cl");
EMBED(ladder_registers, "ladder/5_registers.cl");
EMBED(ladder_peak, "ladder/peak.cl");

#define TEXT(name) kernel__text_##name

typedef struct {
    const char *name;
    const char *const parts[14];
} family_text;

static const family_text families[KERNEL__FAMILIES] = {
    [KERNEL__LAYERS] = {"layers", {TEXT(shapes), TEXT(common), TEXT(layout), TEXT(norm), TEXT(pool), TEXT(loss), NULL}},
    [KERNEL__CONV] = {"conv",
                      {TEXT(shapes), TEXT(common), TEXT(conv_plain), TEXT(conv), "\n#if LANES > 1\n", TEXT(winograd),
                       TEXT(conv_winograd), TEXT(conv_pair), TEXT(conv_strips), "\n#endif\n", NULL}},
    [KERNEL__CONV_WEIGHT] = {"conv_weight",
                             {TEXT(shapes), TEXT(common), TEXT(conv_weight_plain), TEXT(conv_weight),
                              TEXT(conv_weight_rows), "\n#if LANES > 1\n", TEXT(transpose),
                              TEXT(conv_weight_transposed), TEXT(winograd), TEXT(conv_weight_pair),
                              TEXT(conv_weight_winograd), "\n#endif\n", NULL}},
    [KERNEL__VECTOR] = {"vector", {TEXT(shapes), TEXT(common), TEXT(vector), TEXT(update), NULL}},
    [KERNEL__LADDER] = {"ladder",
                        {TEXT(shapes), TEXT(common), TEXT(conv_plain), TEXT(ladder_loops), TEXT(ladder_taps),
                         TEXT(ladder_reuse), TEXT(ladder_registers), TEXT(ladder_peak), NULL}},
};

const char *const *kernel__sources(kernel__family family)
{
    return families[family].parts;
}

const char *kernel__family_name(kernel__family family)
{
    return families[family].name;
}
