# SPDX-License-Identifier: MIT
#
# all_reduce.gp: time (above) and busbw (below) against size, for 2, 4 and 8 ranks: points measured, lines predicted.
# Variables: term (a gnuplot terminal), output, data (the first part of the names of build/bench/all_reduce --model's
# files, which end in the number of ranks and .csv), caption. Run by plots.sh.

set terminal @term
set output output
set datafile separator ","
set multiplot layout 2, 3 title caption noenhanced margins 0.06, 0.985, 0.07, 0.9 spacing 0.06, 0.13
set grid
set logscale x 2
set xtics ("16" 16, "256" 256, "4K" 4096, "64K" 65536, "1M" 1048576, "16M" 16777216)
set xrange [8 : 33554432]
set xlabel "bytes" offset 0, 0.5

algorithms = "naive tree recursive-doubling ring"
colours = "#d55e00 #009e73 #cc79a7 #0072b2"
shapes = "4 6 8 10"
file(n) = sprintf("%s%d.csv", data, n)
colour(i) = word(colours, i)
shape(i) = word(shapes, i) + 0
# Of a column: the value where the line is of algorithm i
mine(i, value) = strcol(2) eq word(algorithms, i) ? value : NaN

set logscale y
set format y "10^{%L}"
set ylabel "time (us)"
set key top left reverse Left
do for [n in "2 4 8"] {
    set title sprintf("%s ranks: time", n)
    plot for [i = 1:4] file(n + 0) using 4:(mine(i, $6)) with lines lc rgb colour(i) lw 1 dt 2 notitle, \
         for [i = 1:4] file(n + 0) using 4:(mine(i, $5)) with points lc rgb colour(i) pt shape(i) \
             title word(algorithms, i)
    unset key
}

unset logscale y
set format y "%g"
set yrange [0 : *]
set ylabel "busbw (GB/s)"
do for [n in "2 4 8"] {
    set title sprintf("%s ranks: busbw", n)
    plot for [i = 1:4] file(n + 0) using 4:(mine(i, $8)) with lines lc rgb colour(i) lw 1 dt 2 notitle, \
         for [i = 1:4] file(n + 0) using 4:(mine(i, $7)) with points lc rgb colour(i) pt shape(i) \
             title word(algorithms, i)
}
unset multiplot
