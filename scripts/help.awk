# SPDX-License-Identifier: MIT
#
# help.awk: a program's --help as Markdown or as a man page, so that options and variables are written down once.
#       -v as=md -v name=build/launch                        a section of docs/reference.md
#       -v as=man -v name=pairwise-launch -v version=0.1.0    section 1 of the manual
# Reads what argp prints with ARGP_HELP_FMT=rmargin=9999,opt-doc-col=40,dup-args-note=0 (scripts/reference.sh):
#       Usage: launch [OPTION...] ...       then what the program does, up to an empty line
#         -n, --ranks=N      start N ranks   options, and variables of the environment, one a line
#        Group:                              headings of groups
#         launch -n 4 ...                    examples
#       Exit status: ...                     paragraphs

BEGIN { split("launch replay train", installed) }

function code(text) { return "`" text "`" }
function cell(text) { gsub(/\|/, "\\|", text); return text }

function roff(text,    i) {
    for (i in installed) gsub("build/" installed[i], "pairwise-" installed[i], text)
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

# In examples the program has the name it is shown under.
function renamed(text) {
    sub("^ *" program " ", name " ", text)
    return text
}

function usage(text) {
    sub(/^(Usage:|  or: ) */, "", text)
    if (text ~ /^launch .*\/bench\//) return "build/" text # only a launcher starts it
    if (!program) { program = text; sub(/ \[.*| [A-Z].*/, "", program) }
    sub("^" program, name, text)
    return text
}

function title(text) {
    if (as == "md") { print "\n**" text ".**"; return }
    print (text == "Environment variables" ? ".SH ENVIRONMENT" : ".SS " roff(text))
}

function option(names, text) {
    if (as == "man") { print ".TP\n\\fB" roff(names) "\\fR\n" roff(text); return }
    if (!table) print "\n| " (names ~ /^-/ ? "option" : names ~ /^[A-Z]/ ? "variable" : "command") " | what it does |\n|---|---|"
    table = 1
    print "| " cell(code(names)) " | " cell(text) " |"
}

function example(text) {
    text = renamed(text)
    if (as == "man") { print (verbatim ? "" : ".nf\n") roff(text); verbatim = 1; return }
    if (!verbatim) print ""
    print "    " text
    verbatim = 1
}

function paragraph(text) {
    if (as == "md") { print "\n" text; return }
    if (match(text, /^(Exit status|Examples|Environment):/)) {
        print ".SH " toupper(substr(text, 1, RLENGTH - 1))
        text = substr(text, RLENGTH + 2)
    } else print ".PP"
    if (text != "") print roff(text)
}

function leave() {
    if (verbatim && as == "man") print ".fi"
    verbatim = table = 0
}

/^(Usage:|  or: )/ {
    line = usage($0)
    if (as == "md") { if (/^Usage:/) print "## " name "\n"; print "    " line; next }
    if (/^Usage:/) synopsis = ".B " roff(line); else synopsis = synopsis "\n.br\n.B " roff(line)
    next
}
!described && NF {
    described = 1
    if (as == "md") { print "\n" $0; next }
    summary = $0
    sub(/[:.,] .*|\.$/, "", summary)
    print ".TH " toupper(name) " 1 \"\" \"Pairwise " version "\" \"User Commands\""
    print ".SH NAME\n" roff(name) " \\- " tolower(substr(summary, 1, 1)) roff(substr(summary, 2))
    print ".SH SYNOPSIS\n" synopsis "\n.SH DESCRIPTION\n" roff($0) "\n.SH OPTIONS"
    next
}
/^Devices of this machine/ { next }                                  # another on every machine
as == "md" && /^ +(-\?, --help|--usage|-V, --version) / { next }     # every program has these
/^ [^ ].*:$/ { leave(); sub(/^ /, ""); sub(/:$/, ""); title($0); next }
/^  +[^ ]+(, [^ ]+)?  +[^ ]/ || /^  +-([^ ]| [^ ])*  +[^ ]/ {
    text = names = $0
    sub(/^ +/, "", names)
    match(names, /   */)
    text = substr(names, RSTART + RLENGTH)
    option(substr(names, 1, RSTART - 1), text)
    next
}
/^  / { example($0); next }
/^$/ { leave(); next }
{ leave(); paragraph($0) }
END {
    leave()
    if (as == "man") print ".SH SEE ALSO\n.BR pairwise-launch (1),\n.BR pairwise-replay (1),\n.BR pairwise-train (1)"
}
