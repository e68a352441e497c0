/* SPDX-License-Identifier: MIT */
/*
 * sources: the text of the device's programs, put into the library by the assembler, each with a zero behind it.
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
    const char *const parts[9];
} family_text;

static const family_text families[KERNEL__FAMILIES] = {
    [KERNEL__LAYOUT] = {"layout", {TEXT(shapes), TEXT(common), TEXT(layout), NULL}},
    [KERNEL__CONV] = {"conv", {TEXT(shapes), TEXT(common), TEXT(conv_plain), TEXT(conv), NULL}},
    [KERNEL__CONV_WEIGHT] = {"conv_weight",
                             {TEXT(shapes), TEXT(common), TEXT(conv_weight_plain), TEXT(conv_weight),
                              TEXT(conv_weight_rows), NULL}},
    [KERNEL__WINOGRAD_FAMILY] = {"winograd",
                                 {TEXT(shapes), TEXT(common), TEXT(conv_winograd), TEXT(conv_pair), TEXT(conv_strips),
                                  NULL}},
    [KERNEL__WINOGRAD_WEIGHT] = {"winograd_weight",
                                 {TEXT(shapes), TEXT(common), TEXT(transpose), TEXT(conv_weight_pair),
                                  TEXT(conv_weight_winograd), NULL}},
    [KERNEL__TRANSPOSED] = {"transposed",
                            {TEXT(shapes), TEXT(common), TEXT(transpose), TEXT(conv_weight_plain),
                             TEXT(conv_weight_transposed), NULL}},
    [KERNEL__NORM] = {"norm", {TEXT(shapes), TEXT(common), TEXT(norm), NULL}},
    [KERNEL__POOL] = {"pool", {TEXT(shapes), TEXT(common), TEXT(pool), NULL}},
    [KERNEL__LOSS] = {"loss", {TEXT(shapes), TEXT(common), TEXT(loss), NULL}},
    [KERNEL__VECTOR] = {"vector", {TEXT(shapes), TEXT(common), TEXT(vector), NULL}},
    [KERNEL__UPDATE] = {"update", {TEXT(shapes), TEXT(common), TEXT(update), NULL}},
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
