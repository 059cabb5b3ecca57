#!/usr/bin/env bash
# A page without a server: one file with the studio, a scene and the engine, to be mailed or put anywhere:
# examples/page.sh [SCENE [PAGE]]. Needs the engine that `make wasm` builds. SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
scene=${1:-scenes/templates/concourse.json} page=${2:-page.html}
"${TH_PROGRAM:-build/throng}" export "$scene" --app "$page"
echo "open $page in a browser: ${scene##*/} plays in it"
