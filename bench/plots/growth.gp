# SPDX-License-Identifier: MIT
#
# growth.gp: what more ranks cost: to start and to end a job, an all-reduce of 8 bytes, and the memory of a rank. Variables:
# term (a gnuplot terminal), output, data (build/bench/growth --csv), caption. Run by plots.sh.

set terminal @term
set output output
set datafile separator ","
set multiplot layout 1, 3 title caption noenhanced margins 0.06, 0.985, 0.13, 0.82 spacing 0.06, 0.1
set grid
set logscale x 2
set xrange [1.5 : 1400]
set xtics ("2" 2, "8" 8, "32" 32, "128" 128, "1024" 1024)
set xlabel "ranks"
set key top left reverse Left

set logscale y
set format y "10^{%L}"
set title "a job (ms)"
plot data using 1:2 skip 1 with linespoints lc rgb "#0072b2" pt 6 title "until all ranks have met", \
     data using 1:3 skip 1 with linespoints lc rgb "#d55e00" pt 4 title "from their last meeting to its end"

set title "an all-reduce of 8 bytes (us)"
plot data using 1:4 skip 1 with linespoints lc rgb "#009e73" pt 8 title "all-reduce", \
     data using 1:5 skip 1 with linespoints lc rgb "#999999" pt 2 title "the least: ranks that only wait"

unset logscale y
set format y "%g"
set yrange [0 : *]
set title "memory of a rank (KiB)"
plot data using 1:6 skip 1 with linespoints lc rgb "#cc79a7" pt 10 notitle
unset multiplot
