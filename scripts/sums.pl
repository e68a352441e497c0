#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# sums.pl FILE...: for each C file a number that changes with the file, with a header of this checkout that it includes,
# directly or through another one, and with the settings of lint (.clang-tidy); then its name. What is made (build/) and what
# the system has count by name alone.
use strict;
use warnings;
use Digest::SHA qw(sha1_hex);

my (%text, %included);

sub text {
    my ($file) = @_;
    return $text{$file} //= do { local (@ARGV, $/) = ($file); <> // '' };
}

# The headers of this checkout that a file includes: beside it, in the top folder, or as mpicc has them.
sub included {
    my ($file) = @_;
    return $included{$file} //= do {
        my ($folder) = $file =~ m{^(.*/)};
        my @found;
        for my $name (text($file) =~ /^\s*#\s*include\s*["<]([^">]+)[">]/mg) {
            my ($header) = grep { -f } (($folder // '') . $name, $name, "mpi/$name");
            push @found, $header if $header && $header !~ m{^build/};
        }
        \@found;
    };
}

for my $file (grep { -f } @ARGV) {
    my %seen = ($file => 1);
    my @open = ($file);
    while (my $next = shift @open) {
        push @open, grep { !$seen{$_}++ } @{ included($next) };
    }
    my ($folder) = $file =~ m{^([^/]+/)};
    my @settings = grep { -f } '.clang-tidy', ($folder // '') . '.clang-tidy';
    print substr(sha1_hex(map { $_, text($_) } sort(keys %seen), @settings), 0, 16), " $file\n";
}
