# SPDX-License-Identifier: MIT
#
# Debian 12 with everything `make`, `make test`, `make test-all` and `make lint` need, for those on other systems:
#       docker build -t pairwise .
#       docker run --rm -it --user "$(id -u):$(id -g)" -v "$PWD":/pairwise pairwise make test
FROM debian:12

RUN apt-get update && apt-get install -y --no-install-recommends make git ca-certificates

# The same script that make uses, so that there is one list of packages.
COPY scripts/setup.sh /setup/scripts/setup.sh
RUN cd /setup && for purpose in build train test lint test-all; do sh scripts/setup.sh $purpose || exit 1; done \
    && apt-get clean

RUN useradd --create-home --shell /bin/bash learner
USER learner
WORKDIR /pairwise
CMD ["bash"]
