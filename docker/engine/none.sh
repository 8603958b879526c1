#!/bin/sh
# SPDX-License-Identifier: ISC
# Stands in a sandbox in the place of docker, podman and buildah.
cat >&2 <<END
${0##*/}: containers cannot be made in this sandbox, because it refuses namespaces within its own and no engine's socket leads into it; the user can make an image for the whole session with icctl image build, outside, and have containers that the project needs, such as a database, run beside it ("services" in config.json or .ironcurtain.json; icctl services import compose.yaml). Do not retry.
END
exit 125
